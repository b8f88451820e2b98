"""Rows of label, text and reason, aligned, wrapped, and never cut."""

from dataclasses import dataclass

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from coder_tui.ui.draw.glyphs import Glyphs
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.strips import TAB, broken, filled
from coder_tui.ui.draw.widget import DrawnWhole
from coder_tui.ui.requests.details import Detail, Weight

_GAP = 2
_WIDEST_LABEL = 20
"""Columns; a longer label has a row of its own."""
_WIDEST_TEXT = 44
"""Columns up to which texts push the reasons beside them to the right."""


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
    """Reasons stand in a column of their own where there is room, else below what they explain.

    `label_width` is the least that labels have, so that several lists can stand below each other.
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


class DetailRows(DrawnWhole):
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
