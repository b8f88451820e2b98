"""What a request would do, whole and wrapped, and below it what was found out about it."""

from textual.app import ComposeResult
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from coder_tui.protocol.display import DiffBlock, TextBlock
from coder_tui.protocol.requests import ApprovalRequest
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.widgets.arguments import arguments
from coder_tui.ui.widgets.block_view import BlockView
from coder_tui.ui.widgets.detail_rows import DetailRows
from coder_tui.ui.widgets.diff_block import DiffBlockView
from coder_tui.ui.widgets.hunked_block import HunkedBlock, hunk_ids
from coder_tui.ui.widgets.request_words import details
from coder_tui.ui.widgets.seen_scroll import SeenScroll

_ABOVE = 2
"""Rows that stay in sight above a hunk one goes to."""


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
        self._view = _view(request, chrome)
        self._digest = Static(digest, id="digest-inside", markup=False)
        rows = details(request, chrome)
        self._details = DetailRows(rows, glyphs=chrome, id="details")
        self._details.display = bool(rows)

    def show_digest(self, digest: Content) -> None:
        self._digest.update(digest)

    @property
    def hunks(self) -> HunkedBlock | None:
        """The change by hunks, where it has several."""
        return self._view if isinstance(self._view, HunkedBlock) else None

    @property
    def diff(self) -> DiffBlockView | None:
        return self._view if isinstance(self._view, DiffBlockView) else None

    @property
    def is_cut(self) -> bool:
        """Whether long lines are not shown to their ends."""
        return self.diff is not None and not self.diff.wraps

    def look(self) -> None:
        if not self.is_cut:
            super().look()

    def move_hunk(self, step: int) -> None:
        if self.hunks is not None:
            self.hunks.move(step)
            self.scroll_to(y=max(0, self.hunks.current_row - _ABOVE), animate=False)

    def compose(self) -> ComposeResult:
        yield self._view
        yield self._digest
        yield self._details


def has_hunks(request: ApprovalRequest) -> bool:
    """Whether single parts of a change can be refused; a single hunk is refused with the call."""
    block = request.preview
    return request.is_divisible and isinstance(block, DiffBlock) and len(hunk_ids(block)) > 1


def _view(request: ApprovalRequest, chrome: Chrome) -> Widget:
    block = request.preview
    if isinstance(block, DiffBlock) and has_hunks(request):
        return HunkedBlock(block, glyphs=chrome)
    if isinstance(block, DiffBlock):
        return DiffBlockView(block, glyphs=chrome)
    if isinstance(block, TextBlock) and (fields := arguments(block.text)) is not None:
        return DetailRows(fields, glyphs=chrome)
    return BlockView(block, glyphs=chrome)
