"""The frame of a guarded dialog: a part that scrolls, a note, a row of answers and a legend.

`MustReadScroll` knows whether its end has been on the screen; some answers need that.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events, on
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.errors import NoWidget
from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from coder_tui.ui.chrome.banners import Waiting
from coder_tui.ui.draw.widget import NARROWEST_DRAWING, DrawnAtOnce
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keymap import Hints, named_hints
from coder_tui.ui.keys import Context
from coder_tui.ui.launch import AnswerKeys
from coder_tui.ui.lists.row_list import RowList
from coder_tui.ui.requests.key_guard import Choice


class MustReadScroll(VerticalScroll, can_focus=False):
    """Scrolls, and knows whether its end has been painted.

    What counts is where the compositor put the last child, not what a layout in progress would allow.
    """

    DEFAULT_CSS = """
    MustReadScroll {
        height: auto; background: $surface; padding: 0 1; scrollbar-size-vertical: 1;
    }
    """

    class Moved(Message):
        """Another part may be in view. Once it is painted, the screen calls `mark_seen`."""

    def __init__(self, *children: Widget, id: str) -> None:
        super().__init__(*children, id=id)
        self.is_end_seen = False

    def on_mount(self) -> None:
        self.watch(self, "scroll_y", self._moved, init=False)

    def on_resize(self) -> None:
        self._moved()

    @on(DrawnAtOnce.Drawn)
    def _drawn(self) -> None:
        self.call_after_refresh(self._moved)

    @property
    def has_more(self) -> bool:
        """Whether there is more below the visible part."""
        return self.scroll_y < self.max_scroll_y

    def mark_seen(self) -> None:
        """Record that the end is painted. Call it only when the user can have read it."""
        self.is_end_seen = self.is_end_seen or self._is_end_painted()

    def turn(self, key: str) -> bool:
        """Scroll by a key. Returns False if the key does not scroll."""
        scrolls: dict[str, Callable[..., None]] = {
            "up": self.scroll_up,
            "down": self.scroll_down,
            "pageup": self.scroll_page_up,
            "pagedown": self.scroll_page_down,
            "home": self.scroll_home,
            "end": self.scroll_end,
        }
        if key in scrolls:
            scrolls[key](animate=False)
        return key in scrolls

    def _moved(self) -> None:
        self.post_message(self.Moved())

    def _is_end_painted(self) -> bool:
        shown = self.displayed_children
        if not self.display or not shown:
            return False
        if any(isinstance(child, DrawnAtOnce) and not child.is_drawn for child in shown):
            return False
        try:
            place = self.screen.find_widget(shown[-1])
        except NoWidget:
            return False
        is_wide_enough = place.region.width >= NARROWEST_DRAWING
        return (
            is_wide_enough
            and place.visible_region.height > 0
            and (place.visible_region.bottom == place.region.bottom)
        )


class Stack(Layout):
    """Gives every part the height it needs, in one pass. Parts that scroll shrink if room is short."""

    name = "stack"

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> ArrangeResult:
        heights = [_needed(child, size) for child in children]
        missing = max(0, sum(heights) - size.height) if size.height else 0
        placements = []
        y = 0
        for child, height in zip(children, heights, strict=True):
            given = max(1, height - missing) if isinstance(child, MustReadScroll | RowList) else height
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
    """An answer: its key as the user reads it, and what it does."""

    choice: Choice
    key: str
    label: str


def answer_key(letter: str, keys: AnswerKeys) -> str:
    """Return how the key of a letter is shown: alone, or with Alt if the user wants that."""
    return letter if keys is AnswerKeys.LETTERS else f"Alt+{letter.upper()}"


class AnswerLabel(Static):
    """One answer. It never gets Textual's focus: the guard receives all keys and moves the mark."""

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
    """Places labels next to each other, on as many rows as they need. One layout pass is enough."""

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
    """All answers. Wraps in a narrow dialog."""

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
"""Columns of the frame that the title cannot use."""


class GuardedDialog(Vertical):
    """Shows what its screen tells it to. It decides nothing."""

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
        self._place = ""
        self.row = AnswerRow(answers)

    @property
    def layout(self) -> Layout:
        return self._stack

    @property
    @abstractmethod
    def scrolled(self) -> MustReadScroll:
        """The part that keys scroll and whose end must be seen."""

    @property
    def is_end_seen(self) -> bool:
        """Whether the user has seen enough to allow anything."""
        return self.scrolled.is_end_seen

    @abstractmethod
    def heading(self, width: int) -> str:
        """Return the title, cut to `width` columns."""

    def on_resize(self) -> None:
        self.show_heading()

    def show_heading(self) -> None:
        self.border_title = Content(self.heading(max(1, self.outer_size.width - TITLE_MARGIN)))

    def show_queue(self, place: str, others: Waiting) -> None:
        """Show the place in the queue, such as `1 of 3`, and the other requests. Both may be empty."""
        self._place = place
        self.show_heading()

    def show_reason(self) -> None:
        self.add_class("-explaining")

    def close_fields(self) -> None:
        self.remove_class("-explaining", "-editing")

    def show_ready(self, is_ready: bool) -> None:
        self.border_subtitle = Content(self.describe_state(is_ready))
        self.set_class(is_ready, "-ready")
        self.row.disable(frozenset() if self.is_end_seen else ALLOWING)

    def describe_state(self, is_ready: bool) -> str:
        if is_ready:
            short = f"ready {self._chrome.ready}"
            words = f"PgDn for more  {short}" if self.scrolled.has_more else short
        else:
            short = f"wait {self._chrome.hold}"
            words = f"{short} keys go to the draft"
        return words if self.size.width >= len(words) + TITLE_MARGIN else short

    def note(self, text: str) -> None:
        self._note.display = bool(text)
        self._note.update(Content(text))


class Legend(Static):
    """Shows keys and what they do. Wraps in a narrow dialog."""

    DEFAULT_CSS = "Legend { height: auto; padding: 0 1; }"

    def __init__(self, hints: Hints = (), *, context: Context = Context.COMPOSER) -> None:
        """`context` says whose remapped keys to show. Text fields use those of the prompt."""
        super().__init__(id="legend", markup=False)
        self._hints = hints
        self._whose = context

    def on_mount(self) -> None:
        self.show(*self._hints)

    def show(self, *hints: tuple[str, str]) -> None:
        self._hints = hints
        parts: list[tuple[str, str]] = []
        for keys, words in named_hints(self, hints, (self._whose,)):
            parts += [("  " if parts else "", ""), (keys, "bold $text-accent"), (f" {words}", "$foreground")]
        self.update(Content.assemble(*parts))
