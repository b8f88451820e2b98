"""What the panes beside the conversation have in common."""

from abc import abstractmethod

from textual import events
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from coder_tui.ui.drawing.glyphs import Glyphs
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.panes import PaneName
from coder_tui.ui.widgets.browse_line import BrowseLine
from coder_tui.ui.widgets.row_list import RowList

_CONTEXTS = (
    Context.SESSION,
    Context.PANE,
    Context.LIST,
    Context.CHANGES,
    Context.PROBLEMS,
    Context.DIFF,
)
PaneHints = tuple[tuple[str, str], ...]
"""Keys with a word each, the most useful first."""


class PaneLine(BrowseLine):
    """The keys of what has the focus."""

    DEFAULT_CSS = "PaneLine { dock: none; }"

    def show(self, hints: PaneHints) -> None:
        self._hints = hints
        self.show_hints()


class Pane(Container):
    """A titled pane that is hidden unless the dock shows it; its keys stand below while it has the focus."""

    DEFAULT_CSS = """
    Pane {
        height: 1fr; width: 1fr; display: none; layout: vertical; background: $background;
        border-top: solid $border-blurred; border-title-color: $text-accent; border-title-style: bold;
        border-title-background: $background;
        &:focus-within { border-top: solid $primary; border-title-color: $text-primary; }
    }
    """
    BINDINGS = bindings(Context.PANE)
    name_of_pane: PaneName

    class Left(Message):
        """Esc: back to the conversation."""

    def __init__(self, hints: PaneHints, glyphs: Glyphs, *, id: str) -> None:
        super().__init__(id=id)
        self._hints = hints
        self.line = PaneLine(hints, glyphs, contexts=_CONTEXTS)

    @property
    @abstractmethod
    def count(self) -> str:
        """What stands behind the title; empty when there is nothing to show."""

    @property
    def wants_showing(self) -> bool:
        """Whether to stand there unasked, where there is room."""
        return bool(self.count)

    @property
    @abstractmethod
    def target(self) -> Widget:
        """What takes the keys."""

    @abstractmethod
    def rows_wanted(self, width: int) -> int:
        """How many rows it has to show; without title and keys."""

    def height_wanted(self, width: int) -> int:
        return 1 + max(1, self.rows_wanted(width)) + (1 if self.has_focus_within else 0)

    def retitle(self) -> None:
        self.border_title = Content(f" {self.name_of_pane} {self.count} ")

    def hints_for(self, widget: Widget) -> PaneHints:
        return self._hints

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.line.show(self.hints_for(event.widget))

    def on_descendant_blur(self) -> None:
        self.line.hide()

    def action_page(self, way: int) -> None:
        """Of what has the focus, not of the conversation."""
        focused = self.screen.focused
        if isinstance(focused, RowList):
            focused.action_page(way)
        elif focused is not None:
            focused.scroll_relative(y=way * max(1, focused.size.height - 1), animate=False)

    def action_leave(self) -> None:
        self.post_message(self.Left())
