"""What a request would do, whole and wrapped, and below it what was found out about it.

The arguments of a call that no tool of ours explains, as a list that a person can read.

One display block as a widget: a preview in a dialog.
"""

import json
from dataclasses import replace
from typing import Any

from textual.app import ComposeResult
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from coder_tui.protocol.display import DiffBlock, DisplayBlock, TextBlock
from coder_tui.protocol.requests import ApprovalRequest
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.ui.diff.block import DiffBlockView, HunkedBlock, hunk_ids
from coder_tui.ui.draw.blocks import draw_block
from coder_tui.ui.draw.glyphs import UNICODE, Glyphs
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.widget import DrawnWhole, is_long
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.requests.detail_rows import DetailRows
from coder_tui.ui.requests.details import Detail, Weight, details, raw_text
from coder_tui.ui.requests.seen_scroll import SeenScroll

_Pairs = list[tuple[str, Any]]


def arguments(text: str) -> tuple[Detail, ...] | None:
    """A row for each field of a JSON object, twice where a name stands twice; None for any other text."""
    try:
        pairs = json.loads(text, object_pairs_hook=_Object)
        if not isinstance(pairs, _Object) or not pairs:
            return None
        return tuple(Detail(safe_line(name), _value(value), weight=Weight.FIELD) for name, value in pairs)
    except (ValueError, RecursionError):
        return None


class _Object(_Pairs):
    """A JSON object with all its pairs: a plain `dict` would hide one that is named again."""


def _value(value: object) -> str:
    if isinstance(value, str):
        return safe_text(value) or '""'
    return safe_text(_written(value))


def _written(value: object, indent: str = "") -> str:
    """Nested values as JSON, indented where that is clearer."""
    inner = f"{indent}  "
    if isinstance(value, _Object) and value:
        fields = [f"{inner}{_scalar(name)}: {_written(item, inner)}" for name, item in value]
        return "{\n" + ",\n".join(fields) + f"\n{indent}}}"
    if isinstance(value, _Object):
        return "{}"
    if isinstance(value, list) and any(isinstance(item, list) for item in value):
        items = [f"{inner}{_written(item, inner)}" for item in value]
        return "[\n" + ",\n".join(items) + f"\n{indent}]"
    return _scalar(value)


def _scalar(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


class BlockView(DrawnWhole):
    """Shows all of a block."""

    def __init__(self, block: DisplayBlock, *, glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(glyphs=glyphs, id=id)
        self._block = block
        self._is_long = is_long(raw_text(block))

    @property
    def is_long(self) -> bool:
        return self._is_long

    def draw(self, width: int, palette: Palette) -> list[Strip]:
        return draw_block(self._block, width, replace(palette, is_whole=True))


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
