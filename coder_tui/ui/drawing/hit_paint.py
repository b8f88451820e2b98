"""Marks in rows that are drawn already: what was searched, and the block that keys act on."""

import re
from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from coder_tui.ui.drawing.palette import Palette
from coder_tui.ui.drawing.searching import Hit, spans_in

Found = list[tuple[tuple[int, int, int], ...]]


class HitPaint:
    """All hits are marked, the one gone to more so. Rows of the entry last looked at are searched once."""

    def __init__(self) -> None:
        self._pattern: re.Pattern[str] | None = None
        self._current: Hit | None = None
        self._known: dict[int, tuple[Sequence[Strip], Found]] = {}

    def show(self, pattern: re.Pattern[str] | None, current: Hit | None) -> None:
        if pattern is not self._pattern:
            self._known.clear()
        self._pattern, self._current = pattern, current

    def row_of(self, hit: Hit, rows: Sequence[Strip]) -> int | None:
        """The row where a hit stands; of words that were cut or folded away, the last one that shows."""
        found = self._found(hit.index, rows)
        return found[min(hit.nth, len(found) - 1)][0][0] if found else None

    def paint(self, index: int, rows: list[Strip], palette: Palette) -> list[Strip]:
        """All rows of an entry."""
        found = self._found(index, rows)
        if not found:
            return rows
        painted = list(rows)
        current = self._current.nth if self._current and self._current.index == index else -1
        for number, pieces in enumerate(found):
            style = palette.current_hit if number == min(current, len(found) - 1) else palette.hit
            for row, start, end in pieces:
                painted[row] = _marked(painted[row], start, end, style)
        return painted

    def _found(self, index: int, rows: Sequence[Strip]) -> Found:
        if self._pattern is None:
            return []
        known = self._known.get(index)
        if known is None or known[0] is not rows:
            if len(self._known) > 200:
                self._known.clear()
            found = spans_in([row.text for row in rows], self._pattern)
            known = self._known[index] = (rows, found)
        return known[1]


def _marked(strip: Strip, first: int, last: int, style: Style) -> Strip:
    start, end = strip.index_to_cell_position(first), strip.index_to_cell_position(last)
    inside = [Segment(part.text, (part.style or Style()) + style) for part in strip.crop(start, end)]
    return Strip.join([strip.crop(0, start), Strip(inside), strip.crop(end)])


def marked_row(strip: Strip, palette: Palette) -> Strip:
    """A bar in its first cell, and another ground where it has the usual one."""
    ground = palette.base.bgcolor
    parts = [
        Segment(
            part.text,
            part.style + palette.cursor if part.style and part.style.bgcolor == ground else part.style,
        )
        for part in strip.crop(1)
    ]
    bar = [Segment(part.text, (part.style or Style()) + palette.cursor_bar) for part in strip.crop(0, 1)]
    return Strip([*bar, *parts], strip.cell_length)
