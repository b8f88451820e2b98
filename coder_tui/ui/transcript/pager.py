"""Reading one block in full: what the transcript folded or cut is all here.

The page on which all of a block is read.
"""

from collections.abc import Callable, Iterable

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from coder_tui.text.safe_text import safe_line
from coder_tui.ui.draw.entries import Entry, View
from coder_tui.ui.draw.glyphs import Glyphs, ThinkingLevel
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.session.base import Gated
from coder_tui.ui.transcript.history import History
from coder_tui.ui.transcript.searching import BrowseLine, SearchedScroll

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


class PagerScreen(Gated, ModalScreen[None]):
    """`copy` and `edit` get the text as it stands."""

    DEFAULT_CSS = """
    PagerScreen {
        background: $background;
        #pager-title { dock: top; height: 1; padding: 0 1; background: $panel; color: $text-primary;
            text-style: bold; text-wrap: nowrap; text-overflow: ellipsis; }
    }
    """
    BINDINGS = bindings(Context.PAGER)
    AUTO_FOCUS = "Pager"
    help_context = Context.PAGER

    def __init__(
        self, title: str, glyphs: Glyphs, copy: Callable[[str], None], edit: Callable[[str], None]
    ) -> None:
        super().__init__()
        self._title = Static(Content(safe_line(title)), id="pager-title", markup=False)
        self._text = ""
        self.pager = Pager(
            glyphs, copy=lambda: copy(self._text), edit=lambda: edit(self._text), close=self._leave
        )
        self._early: list[events.Key | events.Paste] | None = []

    def compose(self) -> ComposeResult:
        yield self._title
        yield self.pager
        yield self.pager.line

    def show(self, entries: Iterable[Entry], text: str) -> None:
        self._text = text
        self.pager.show(entries)

    def grow(self, entries: Iterable[Entry], text: str) -> None:
        """The same page with more on it; the reader stays where they are."""
        self._text = text
        self.pager.grow(entries)

    def on_mount(self) -> None:
        # In the app's own queue, where keys that come meanwhile wait behind these.
        self.call_after_refresh(self.app.call_later, self._take_early)

    async def take(self, event: events.Key | events.Paste) -> bool:
        if self._early is not None:
            self._early.append(event)
            return True
        if isinstance(event, events.Paste):
            return self.pager.type_text(event.text) or True
        if self.pager.take(event):
            return True
        if (bound := self.active_bindings.get(event.key)) is not None:
            node = self.pager if bound.node is self else bound.node
            await self.app.run_action(bound.binding.action, node)
        return True

    async def _take_early(self) -> None:
        """Keys that came before there was a page to turn."""
        early, self._early = self._early or [], None
        for event in early:
            await self.app.on_event(event)

    def _leave(self) -> None:
        self.dismiss()
