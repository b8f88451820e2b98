"""The answers of a dialog in a row: readable by key, clickable, marked by Tab."""

from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.containers import Container
from textual.content import Content
from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from coder_tui.ui.approval_guard import Choice


@dataclass(frozen=True, slots=True)
class Answer:
    """`key` as a person reads it, and what it does."""

    choice: Choice
    key: str
    label: str


class AnswerLabel(Static):
    """One answer. It never takes Textual's focus: keys belong to the guard, which moves the mark."""

    DEFAULT_CSS = """
    AnswerLabel {
        width: auto; height: 1; padding: 0 1; color: $foreground;
        &:hover { background: $boost; }
        &.-marked { background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold; }
        &.-disabled { color: $text-disabled; }
    }
    """

    @dataclass
    class Pressed(Message):
        choice: Choice
        at: float

    def __init__(self, answer: Answer) -> None:
        super().__init__(
            Content.assemble((answer.key, "bold $text-accent"), f" {answer.label}"), markup=False
        )
        self.answer = answer
        self.cells = cell_len(f"{answer.key} {answer.label}") + 2

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(self.Pressed(self.answer.choice, event.time))


class _Flow(Layout):
    """Labels beside each other, on as many rows as they need: known from the width alone, in one layout."""

    name = "flow"

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> ArrangeResult:
        placements = []
        x = y = 0
        for child in children:
            width = child.cells if isinstance(child, AnswerLabel) else 0
            if x and x + width > size.width:
                x, y = 0, y + 1
            region = Region(x, y, width, 1)
            placements.append(WidgetPlacement(region, NULL_OFFSET, NULL_SPACING, child))
            x += width
        return placements


class AnswerRow(Container):
    """All answers; wraps onto further rows where the dialog is narrow."""

    DEFAULT_CSS = "AnswerRow { height: auto; }"

    def __init__(self, answers: tuple[Answer, ...]) -> None:
        self.labels = tuple(AnswerLabel(answer) for answer in answers)
        super().__init__(*self.labels)
        self._flow = _Flow()

    @property
    def layout(self) -> Layout:
        return self._flow

    def mark(self, choice: Choice | None) -> None:
        for label in self.labels:
            label.set_class(label.answer.choice is choice, "-marked")

    def next_after(self, choice: Choice | None, by: int) -> Choice:
        order = [label.answer.choice for label in self.labels]
        start = order.index(choice) if choice in order else (-1 if by > 0 else 0)
        return order[(start + by) % len(order)]

    def disable(self, choices: frozenset[Choice]) -> None:
        for label in self.labels:
            label.set_class(label.answer.choice in choices, "-disabled")
