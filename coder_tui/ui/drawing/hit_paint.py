"""Marks in rows that are drawn already: what was searched, and the block that keys act on."""

import re
from collections import deque
from collections.abc import Sequence
from functools import lru_cache

from rich.cells import cell_len
from rich.color import Color, blend_rgb
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from coder_tui.ui.drawing.palette import Palette
from coder_tui.ui.drawing.searching import Hit, spans_in

Found = list[tuple[tuple[int, int, int], ...]]
_FADES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""How far a colour may go to plain ink until it can be read on the mark."""


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
        marks: dict[int, deque[tuple[int, int, Style]]] = {}
        for number, pieces in enumerate(found):
            style = palette.current_hit if number == min(current, len(found) - 1) else palette.hit
            for row, start, end in pieces:
                marks.setdefault(row, deque()).append((start, end, style))
        for row, waiting in marks.items():
            painted[row] = _marked(rows[row], waiting)
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


def _marked(strip: Strip, waiting: deque[tuple[int, int, Style]]) -> Strip:
    """Mark all hits of a row in one pass: a row may have one in every column."""
    parts: list[Segment] = []
    begin = 0
    for segment in strip:
        place, end = begin, begin + len(segment.text)
        while place < end:
            while waiting and waiting[0][1] <= place:
                waiting.popleft()
            first, last, style = waiting[0] if waiting else (end, end, None)
            is_inside = first <= place
            stop = min(last if is_inside else first, end)
            marked = (segment.style or Style()) + style if is_inside else segment.style
            parts.append(Segment(segment.text[place - begin : stop - begin], marked))
            place = stop
        begin = end
    return Strip(parts, strip.cell_length)


def marked_row(strip: Strip, palette: Palette) -> Strip:
    """A bar before it, and another ground where it has the usual one."""
    bar = max(1, cell_len(strip.text[:1]))
    base = palette.base
    parts = [Segment(part.text, (part.style or base) + palette.cursor_bar) for part in strip.crop(0, bar)]
    for part in strip.crop(bar):
        style = part.style or base
        is_plain = style.bgcolor == base.bgcolor and not style.reverse
        parts.append(Segment(part.text, _on_mark(style, base, palette.cursor) if is_plain else style))
    return Strip(parts, strip.cell_length)


@lru_cache(256)
def _on_mark(style: Style, base: Style, cursor: Style) -> Style:
    """On the ground of the mark, as near to its own ink as can be read there."""
    # With all that diffs need, it is loaded behind the first paint.
    from coder_tui.ui.drawing.diff_inks import READABLE, contrast, rgb

    ink, plain, ground = rgb(style.color), rgb(base.color), rgb(cursor.bgcolor)
    if ink is None or plain is None or ground is None:
        return style + cursor
    for fade in _FADES:
        nearer = blend_rgb(ink, plain, fade)
        if contrast(nearer, ground) >= READABLE:
            return style + cursor + Style(color=Color.from_triplet(nearer))
    return style
