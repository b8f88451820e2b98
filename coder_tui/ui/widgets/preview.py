"""What a request would do, whole and wrapped."""

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from coder_tui.protocol.display import DisplayBlock
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.widgets.block_view import BlockView
from coder_tui.ui.widgets.seen_scroll import SeenScroll


class Preview(SeenScroll):
    """Where there is no room for the facts below, they stand here at the end and scroll along."""

    DEFAULT_CSS = "Preview #facts-inside { height: auto; color: $text-muted; display: none; }"

    def __init__(self, block: DisplayBlock, facts: Content, chrome: Chrome) -> None:
        super().__init__(id="preview")
        self._view = BlockView(block, glyphs=chrome)
        self._facts = Static(facts, id="facts-inside", markup=False)

    def compose(self) -> ComposeResult:
        yield self._view
        yield self._facts
