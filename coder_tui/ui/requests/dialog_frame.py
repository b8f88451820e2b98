"""The frame of a dialog whose keys are guarded: a part that scrolls, notes, and answers in a row.

How the parts of a dialog share its height, settled in one layout.

The answers of a dialog in a row: readable by key, clickable, marked by Tab.

How a dialog that shows a request ends.

A line that says which keys there are now, drawn alike in every dialog.
"""

from abc import abstractmethod
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.containers import Container, Vertical
from textual.content import Content
from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from coder_tui.protocol.requests import Reply
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keymap import Hints, named_hints
from coder_tui.ui.keys import Context
from coder_tui.ui.lists.row_list import RowList
from coder_tui.ui.requests.key_guard import Choice
from coder_tui.ui.requests.seen_scroll import SeenScroll


class Stack(Layout):
    """Every part has the height it needs; what scrolls gives way, so that nothing shows for a moment only."""

    name = "stack"

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> ArrangeResult:
        heights = [_needed(child, size) for child in children]
        missing = max(0, sum(heights) - size.height) if size.height else 0
        placements = []
        y = 0
        for child, height in zip(children, heights, strict=True):
            given = max(1, height - missing) if isinstance(child, SeenScroll | RowList) else height
            region = Region(0, y, size.width, given)
            placements.append(WidgetPlacement(region, NULL_OFFSET, NULL_SPACING, child))
            y += given
        return placements


def _needed(child: Widget, size: Size) -> int:
    gutter = child.gutter
    width = max(0, size.width - gutter.width)
    height = child.get_content_height(size, child.app.size, width) + gutter.height
    most = child.styles.max_height
    return height if most is None else min(height, int(most.value))


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


ALLOWING = frozenset({Choice.ALLOW, Choice.ALWAYS})
TITLE_MARGIN = 6
"""Columns of the frame that the title does not have."""


class GuardedDialog(Vertical):
    """It decides nothing: the screen tells it what to show."""

    DEFAULT_CSS = """
    GuardedDialog {
        width: 92%; max-width: 130; height: auto; max-height: 100%;
        background: $surface; border: round $warning; border-title-color: $text-warning;
        border-title-style: bold; border-subtitle-color: $text-muted;
        &.-ready { border: round $primary; border-subtitle-color: $text-primary; }
        &.-full { width: 100%; max-width: 100%; }
        #note { height: auto; padding: 0 1; color: $text-warning; display: none; }
    }
    """

    def __init__(self, chrome: Chrome, answers: tuple[Answer, ...]) -> None:
        super().__init__(id="dialog")
        self._stack = Stack()
        self._chrome = chrome
        self._note = Static(id="note", markup=False)
        self.row = AnswerRow(answers)

    @property
    def layout(self) -> Layout:
        return self._stack

    @property
    @abstractmethod
    def scrolled(self) -> SeenScroll:
        """The part that keys scroll, and whose end has to be seen."""

    @property
    def is_end_seen(self) -> bool:
        """Whether enough was seen to allow anything."""
        return self.scrolled.is_end_seen

    def show_ready(self, is_ready: bool) -> None:
        self.border_subtitle = Content(self.state_words(is_ready))
        self.set_class(is_ready, "-ready")
        self.row.disable(frozenset() if self.is_end_seen else ALLOWING)

    def state_words(self, is_ready: bool) -> str:
        if is_ready:
            short = f"ready {self._chrome.ready}"
            words = f"PgDn shows more  {short}" if self.scrolled.has_more else short
        else:
            short = f"hold {self._chrome.hold}"
            words = f"{short} keys go to the draft"
        return words if self.size.width >= len(words) + TITLE_MARGIN else short

    def note(self, text: str) -> None:
        self._note.display = bool(text)
        self._note.update(Content(text))


@dataclass(frozen=True, slots=True)
class Closed:
    """`reply` is None when the dialog only docked or was withdrawn."""

    reply: Reply | None
    wants_list: bool = False
    """Whether all that waits is to be shown next."""


def keyed(hints: Hints) -> Content:
    parts: list[tuple[str, str]] = []
    for keys, words in hints:
        parts += [("  " if parts else "", ""), (keys, "bold $text-accent"), (f" {words}", "$foreground")]
    return Content.assemble(*parts)


class Legend(Static):
    """Wraps where it is narrow."""

    DEFAULT_CSS = "Legend { height: auto; padding: 0 1; }"

    def __init__(self, hints: Hints = (), *, context: Context = Context.COMPOSER) -> None:
        """`context` is the one whose keys may have been changed: fields to write in have the prompt's."""
        super().__init__(id="legend", markup=False)
        self._hints = hints
        self._whose = context

    def on_mount(self) -> None:
        self.show(*self._hints)

    def show(self, *hints: tuple[str, str]) -> None:
        self._hints = hints
        self.update(keyed(named_hints(self, hints, (self._whose,))))
