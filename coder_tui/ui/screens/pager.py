"""Reading one block in full: what the transcript folded or cut is all here."""

from collections.abc import Callable, Iterable

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from coder_tui.text.safe_text import safe_line
from coder_tui.ui.drawing.entries import Entry
from coder_tui.ui.drawing.glyphs import Glyphs
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.screens.gated import Gated
from coder_tui.ui.widgets.pager import Pager


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
