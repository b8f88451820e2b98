"""The answers of a dialog in a row: readable by key, clickable, marked by Tab."""

from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.containers import ItemGrid
from textual.content import Content
from textual.message import Message
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

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(self.Pressed(self.answer.choice, event.time))


class AnswerRow(ItemGrid):
    """All answers; wraps onto further rows where the dialog is narrow."""

    DEFAULT_CSS = "AnswerRow { height: auto; grid-gutter: 0 1; }"

    def __init__(self, answers: tuple[Answer, ...]) -> None:
        self.labels = tuple(AnswerLabel(answer) for answer in answers)
        widths = [cell_len(answer.key + answer.label) + 3 for answer in answers]
        super().__init__(*self.labels, min_column_width=max(widths))
        self._row_width = sum(widths)

    def on_resize(self, event: events.Resize) -> None:
        self.styles.layout = "horizontal" if event.size.width >= self._row_width else "grid"

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
