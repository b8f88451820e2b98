"""The base of all panes, and the row of tabs that replaces them in a narrow terminal."""

from abc import abstractmethod
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from coder_tui.ui.glyphs import Chrome, Glyphs
from coder_tui.ui.keymap import named
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.lists.row_list import RowList
from coder_tui.ui.panes.names import PaneName
from coder_tui.ui.transcript.searching import BrowseLine

_CONTEXTS = (
    Context.SESSION,
    Context.PANE,
    Context.LIST,
    Context.CHANGES,
    Context.PROBLEMS,
    Context.DIFF,
)
PaneHints = tuple[tuple[str, str], ...]
"""Keys with a word for each, the most useful first."""


class Pane(Container):
    """A titled pane that is hidden unless the dock shows it; its keys are below while it has the focus."""

    DEFAULT_CSS = """
    Pane {
        height: 1fr; width: 1fr; display: none; layout: vertical; background: $background;
        border-top: solid $border-blurred; border-title-color: $text-accent; border-title-style: bold;
        border-title-background: $background;
        &:focus-within { border-top: solid $primary; border-title-color: $text-primary; }
        BrowseLine { dock: none; }
    }
    """
    BINDINGS = bindings(Context.PANE)
    name_of_pane: PaneName
    target: Widget
    """The widget that gets the focus."""

    class Left(Message):
        """The user goes back to the conversation."""

    def __init__(self, hints: PaneHints, glyphs: Glyphs, *, id: str) -> None:
        super().__init__(id=id)
        self._hints = hints
        self.line = BrowseLine(hints, glyphs, contexts=_CONTEXTS)

    @property
    @abstractmethod
    def count(self) -> str:
        """The text after the title; empty if there is nothing to show."""

    @property
    def wants_showing(self) -> bool:
        """Whether to show the pane without being asked, if there is room."""
        return bool(self.count)

    @abstractmethod
    def rows_wanted(self, width: int) -> int:
        """Return the number of rows of the content, without title and keys."""

    def height_wanted(self, width: int) -> int:
        return 1 + max(1, self.rows_wanted(width)) + (1 if self.has_focus_within else 0)

    def retitle(self) -> None:
        self.border_title = Content(f" {self.name_of_pane} {self.count} ")

    def hints_for(self, widget: Widget) -> PaneHints:
        return self._hints

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.line.use(self.hints_for(event.widget))
        self.line.show_hints()

    def on_descendant_blur(self) -> None:
        self.line.hide()

    def action_page(self, way: int) -> None:
        """Scroll the focused widget, not the conversation."""
        focused = self.screen.focused
        if isinstance(focused, RowList):
            focused.action_page(way)
        elif focused is not None:
            focused.scroll_relative(y=way * max(1, focused.size.height - 1), animate=False)

    def action_leave(self) -> None:
        self.post_message(self.Left())


CHAT = "chat"
_KEYS = "F2 F3 F4 F5"


class PaneTabs(Widget):
    """Tabs for the conversation and the panes; hidden while there are no panes."""

    DEFAULT_CSS = """
    PaneTabs {
        height: 1; display: none; padding: 0 1; background: $panel; color: $text-muted;
        text-wrap: nowrap; text-overflow: clip;
    }
    """

    @dataclass
    class Picked(Message):
        """A tab was clicked; None is the conversation."""

        pane: PaneName | None

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(id="tabs")
        self._between = f" {chrome.edge} "
        self._to = chrome.to
        self._counts: tuple[tuple[PaneName, str], ...] = ()
        self._front: PaneName | None = None

    def show(self, counts: tuple[tuple[PaneName, str], ...], front: PaneName | None) -> None:
        """Show the panes that have content, each with its count; without any the row is hidden."""
        if (counts, front) == (self._counts, self._front):
            return
        self._counts, self._front = counts, front
        if self.display != bool(counts):
            self.display = bool(counts)
        self.refresh()

    def _labels(self, width: int) -> list[tuple[PaneName | None, str]]:
        """Return full labels if there is room, else shorter names, else only counts."""
        for letters in (None, 4, 0):
            labels = [(name, f"{name[:letters]} {count}".strip()) for name, count in self._counts]
            row: list[tuple[PaneName | None, str]] = [(None, CHAT), *labels]
            if cell_len(self._between.join(label for _, label in row)) <= width:
                break
        return row

    def render(self) -> Content:
        parts: list[tuple[str, str]] = []
        for name, label in self._labels(self.content_size.width):
            if parts:
                parts.append((self._between, ""))
            parts.append((label, "bold underline $text-primary" if name is self._front else "$foreground"))
        hint = self._hint()
        room = self.content_size.width - sum(cell_len(text) for text, _ in parts) - cell_len(hint)
        if room >= 2:
            parts.append((" " * room + hint, "$text-dim"))
        return Content.assemble(*parts)

    def _hint(self) -> str:
        keys = named(self, _KEYS, Context.SESSION)
        return f"F2{self._to}F5 switch" if keys == _KEYS else f"{keys} switch"

    def on_click(self, event: events.Click) -> None:
        event.stop()
        column = event.x - self.gutter.left
        for name, label in self._labels(self.content_size.width):
            if 0 <= column < cell_len(label):
                self.post_message(self.Picked(name))
            column -= cell_len(label) + cell_len(self._between)
