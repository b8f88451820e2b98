"""What a request would do, whole and wrapped, and below it what was found out about it."""

from textual.app import ComposeResult
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from coder_tui.protocol.display import DisplayBlock, TextBlock
from coder_tui.protocol.requests import ApprovalRequest
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.widgets.arguments import arguments
from coder_tui.ui.widgets.block_view import BlockView
from coder_tui.ui.widgets.detail_rows import DetailRows
from coder_tui.ui.widgets.request_words import details
from coder_tui.ui.widgets.seen_scroll import SeenScroll


class Preview(SeenScroll):
    """Where there is no room for the digest below, it stands here and scrolls along."""

    DEFAULT_CSS = """
    Preview {
        #digest-inside { height: auto; color: $text-muted; display: none; }
        #details { margin: 1 0 0 0; }
    }
    """

    def __init__(self, request: ApprovalRequest, digest: Content, chrome: Chrome) -> None:
        super().__init__(id="preview")
        self._view = _view(request.preview, chrome)
        self._digest = Static(digest, id="digest-inside", markup=False)
        rows = details(request, chrome)
        self._details = DetailRows(rows, glyphs=chrome, id="details")
        self._details.display = bool(rows)

    def compose(self) -> ComposeResult:
        yield self._view
        yield self._digest
        yield self._details


def _view(block: DisplayBlock, chrome: Chrome) -> Widget:
    if isinstance(block, TextBlock) and (fields := arguments(block.text)) is not None:
        return DetailRows(fields, glyphs=chrome)
    return BlockView(block, glyphs=chrome)
