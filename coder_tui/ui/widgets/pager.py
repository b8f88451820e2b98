"""The page on which all of a block is read."""

from collections.abc import Callable, Iterable

from textual.app import ComposeResult

from coder_tui.ui.drawing.entries import Entry, View
from coder_tui.ui.drawing.glyphs import Glyphs
from coder_tui.ui.drawing.thinking import ThinkingLevel
from coder_tui.ui.keys import Context
from coder_tui.ui.widgets.browse_line import BrowseLine
from coder_tui.ui.widgets.history import History
from coder_tui.ui.widgets.searched_scroll import SearchedScroll

HINTS = (
    ("j k", "line"),
    ("/", "search"),
    ("g G", "ends"),
    ("y", "copy"),
    ("e", "editor"),
    ("q", "close"),
    ("Ctrl+U Ctrl+D", "half a page"),
)


class Pager(SearchedScroll):
    DEFAULT_CSS = "Pager { height: 1fr; scrollbar-size-vertical: 1; scrollbar-gutter: stable; padding: 0 1; }"

    def __init__(
        self,
        glyphs: Glyphs,
        *,
        copy: Callable[[], None],
        edit: Callable[[], None],
        close: Callable[[], None],
    ) -> None:
        super().__init__(History(glyphs=glyphs), BrowseLine(HINTS, glyphs, contexts=(Context.PAGER,)))
        self._copy, self._edit, self._close = copy, edit, close
        self.history.strips.view = View(ThinkingLevel.FULL, is_open=True)
        self._is_following = False

    def show(self, entries: Iterable[Entry]) -> None:
        """From the top; what stood there before goes."""
        self.history.clear()
        self.history.is_batching = True
        for entry in entries:
            self.history.add(entry)
        self.history.is_batching = False
        self.history.stand_at(0)
        self.history.refresh(layout=True)

    def grow(self, entries: Iterable[Entry]) -> None:
        """Entries that stand there already may have changed; others come below."""
        shown = self.history.strips.entries
        for index, entry in enumerate(entries):
            if index >= len(shown):
                self.history.add(entry)
            elif shown[index] != entry:
                self.history.replace(index, entry)

    def compose(self) -> ComposeResult:
        yield self.history

    def on_mount(self) -> None:
        self.line.show_hints()

    def action_copy(self) -> None:
        self._copy()

    def action_edit(self) -> None:
        self._edit()

    def action_leave(self) -> None:
        if self.is_searching:
            self.end_search()
        else:
            self._close()
