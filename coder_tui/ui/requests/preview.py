"""The preview of a request: what it would do, in full and wrapped, followed by the findings.

Rows of a label, a text and a reason are aligned, wrapped and never cut off.
"""

import json
from dataclasses import dataclass, replace
from typing import Any

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from coder_tui.protocol.display import DiffBlock, DisplayBlock, TextBlock
from coder_tui.protocol.requests import ApprovalRequest
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.ui.diff.block import DiffBlockView, HunkedBlock
from coder_tui.ui.draw.blocks import draw_block
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.strips import TAB, broken, filled
from coder_tui.ui.draw.widget import DrawnAtOnce, is_long
from coder_tui.ui.glyphs import UNICODE, Chrome, Glyphs
from coder_tui.ui.requests.details import Detail, Weight, details, raw_text
from coder_tui.ui.requests.dialog_frame import MustReadScroll

_GAP = 2
_WIDEST_LABEL = 20
"""Columns. A longer label gets its own row."""
_WIDEST_TEXT = 44
"""Columns. Longer texts do not push the column of reasons further to the right."""


@dataclass(frozen=True, slots=True)
class _Columns:
    label: int
    text: int
    width: int

    @property
    def room(self) -> int:
        return max(1, self.width - self.label)


def draw_details(
    details: tuple[Detail, ...], width: int, palette: Palette, label_width: int = 0
) -> list[Strip]:
    """Draw reasons in their own column if there is room, otherwise below what they explain.

    `label_width` is the least width of labels, so that several lists align.
    """
    labels = [cell_len(row.label) for row in details if cell_len(row.label) <= _WIDEST_LABEL]
    label = min(max(label_width, *labels, 0) + _GAP, width // 2)
    texts = [cell_len(row.text) for row in details if row.reason]
    text = max((cells for cells in texts if cells <= _WIDEST_TEXT), default=0)
    columns = _Columns(label, text, width)
    return [strip for row in details for strip in _draw(row, columns, palette)]


def _draw(row: Detail, columns: _Columns, palette: Palette) -> list[Strip]:
    ink, label_ink = _inks(row.weight, palette)
    lines: list[list[Segment]] = [
        [Segment(piece, ink)]
        for line in row.text.split("\n")
        for piece in broken(line.expandtabs(TAB), columns.room)
    ]
    if row.reason:
        _add_reason(lines, row, columns, palette)
    strips = []
    indent = Segment(" " * columns.label, palette.base)
    lead = indent
    if cell_len(row.label) + _GAP <= columns.label:
        lead = Segment(row.label + " " * (columns.label - cell_len(row.label)), label_ink)
    else:
        for piece in broken(row.label, columns.width):
            strips.append(filled([Segment(piece, label_ink)], columns.width, palette.base))
    for line in lines:
        strips.append(filled([lead, *line], columns.width, palette.base))
        lead = indent
    return strips


def _add_reason(lines: list[list[Segment]], row: Detail, columns: _Columns, palette: Palette) -> None:
    last = cell_len(lines[-1][0].text)
    room = columns.room - cell_len(row.reason)
    aligned = max(last, columns.text if len(lines) == 1 else 0) + _GAP
    start = next((column for column in (aligned, last + _GAP) if column <= room), None)
    if start is not None and not row.is_below:
        lines[-1] += [Segment(" " * (start - last), palette.base), Segment(row.reason, palette.dim)]
        return
    indent = Segment(" " * _GAP, palette.base)
    lines += [[indent, Segment(piece, palette.dim)] for piece in broken(row.reason, columns.room - _GAP)]


def _inks(weight: Weight, palette: Palette) -> tuple[Style, Style]:
    bold = Style(bold=True)
    match weight:
        case Weight.PLAIN:
            return palette.base, palette.dim
        case Weight.FIELD:
            return palette.base, palette.running
        case Weight.GOOD:
            return palette.ok, palette.dim
        case Weight.MARKED:
            return palette.strong, palette.running + bold
        case Weight.WARNING:
            return palette.warning, palette.warning + bold
        case Weight.CLAIM:
            return palette.base + Style(italic=True), palette.dim


class DetailRows(DrawnAtOnce):
    """Details as a widget."""

    def __init__(
        self, details: tuple[Detail, ...], *, glyphs: Glyphs, label_width: int = 0, id: str | None = None
    ) -> None:
        super().__init__(glyphs=glyphs, id=id)
        self._details = details
        self._label_width = label_width

    def show(self, details: tuple[Detail, ...]) -> None:
        if details != self._details:
            self._details = details
            self.forget()

    def draw(self, width: int, palette: Palette) -> list[Strip]:
        return draw_details(self._details, width, palette, self._label_width)


_Pairs = list[tuple[str, Any]]


def arguments(text: str) -> tuple[Detail, ...] | None:
    """Return a row for each field of a JSON object, also for a repeated name; None for any other text."""
    try:
        pairs = json.loads(text, object_pairs_hook=_Object)
        if not isinstance(pairs, _Object) or not pairs:
            return None
        return tuple(Detail(safe_line(name), _value(value), weight=Weight.FIELD) for name, value in pairs)
    except (ValueError, RecursionError):
        return None


class _Object(_Pairs):
    """A JSON object with all its pairs. A plain `dict` would hide a repeated name."""


def _value(value: object) -> str:
    if isinstance(value, str):
        return safe_text(value) or '""'
    return safe_text(_written(value))


def _written(value: object, indent: str = "") -> str:
    """Write a nested value as JSON, indented if that is clearer."""
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


class BlockView(DrawnAtOnce):
    """Shows a whole block."""

    def __init__(self, block: DisplayBlock, *, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(glyphs=glyphs)
        self._block = block
        self._is_long = is_long(raw_text(block))

    @property
    def is_long(self) -> bool:
        return self._is_long

    def draw(self, width: int, palette: Palette) -> list[Strip]:
        return draw_block(self._block, width, replace(palette, is_whole=True))


_ABOVE = 2
"""Rows that stay visible above the hunk that the user goes to."""


class Preview(MustReadScroll):
    """Shows what a request would do. If there is no room for the digest below, it scrolls in here."""

    DEFAULT_CSS = """
    Preview {
        #digest-inside { height: auto; color: $text-muted; display: none; }
        #details { margin: 1 0 0 0; }
    }
    """

    def __init__(self, request: ApprovalRequest, digest: Content, chrome: Chrome) -> None:
        self._view = _view(request, chrome)
        self._digest = Static(digest, id="digest-inside", markup=False)
        rows = details(request, chrome)
        shown = DetailRows(rows, glyphs=chrome, id="details")
        shown.display = bool(rows)
        super().__init__(self._view, self._digest, shown, id="preview")

    def show_digest(self, digest: Content) -> None:
        self._digest.update(digest)

    @property
    def hunks(self) -> HunkedBlock | None:
        """The change by hunks, if it has several."""
        return self._view if isinstance(self._view, HunkedBlock) else None

    @property
    def diff(self) -> DiffBlockView | None:
        return self._view if isinstance(self._view, DiffBlockView) else None

    @property
    def is_cut(self) -> bool:
        """Whether long lines are cut off."""
        return self.diff is not None and not self.diff.wraps

    def mark_seen(self) -> None:
        if not self.is_cut:
            super().mark_seen()

    def move_hunk(self, step: int) -> None:
        if self.hunks is not None:
            self.hunks.move(step)
            self.scroll_to(y=max(0, self.hunks.current_row - _ABOVE), animate=False)


def has_hunks(request: ApprovalRequest) -> bool:
    """Return whether hunks can be refused one by one. A single hunk is refused with the whole call."""
    return len(request.hunk_ids) > 1


def _view(request: ApprovalRequest, chrome: Chrome) -> Widget:
    block = request.preview
    if isinstance(block, DiffBlock) and has_hunks(request):
        return HunkedBlock(block, request.files, glyphs=chrome)
    if isinstance(block, DiffBlock):
        return DiffBlockView(block, glyphs=chrome)
    if isinstance(block, TextBlock) and (fields := arguments(block.text)) is not None:
        return DetailRows(fields, glyphs=chrome)
    return BlockView(block, glyphs=chrome)
