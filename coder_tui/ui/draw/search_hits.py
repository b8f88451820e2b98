"""Search the texts of entries, find the hits in drawn rows, and mark them and the selected block."""

import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate

from rich.cells import cell_len
from rich.color import Color, blend_rgb
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from coder_tui.ui.draw.entries import Entry
from coder_tui.ui.draw.palette import Palette

SLICE = 400_000
"""Characters searched in one go: a few milliseconds, so that keys are handled in a long session."""

_EDGES = " │▌▎↳|\\"
"""What precedes the text of a row that continues the one above."""
_MARKUP = r"[*_`~]*"


def pattern_of(words: str) -> re.Pattern[str] | None:
    """Build the pattern: blanks match across emphasis, letters match any case unless one is a capital."""
    parts = words.split()
    if not parts:
        return None
    flags = 0 if any(map(str.isupper, words)) else re.IGNORECASE
    return re.compile(rf"{_MARKUP}\s+{_MARKUP}".join(map(re.escape, parts)), flags)


def spans_in(rows: Sequence[str], pattern: re.Pattern[str]) -> list[tuple[tuple[int, int, int], ...]]:
    """Find the hits in the rows of one entry, each as (row, start, end), several if it wraps."""
    leads = [len(row) - len(row.lstrip(_EDGES)) for row in rows]
    texts = [row[lead:].rstrip() for row, lead in zip(rows, leads, strict=True)]
    starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
    found = []
    for match in pattern.finditer("\n".join(texts)):
        if match.start() < match.end():
            found.append(tuple(_pieces(match.span(), texts, starts, leads)))
    return found


def _pieces(
    span: tuple[int, int], texts: Sequence[str], starts: Sequence[int], leads: Sequence[int]
) -> Iterator[tuple[int, int, int]]:
    for row in range(bisect_right(starts, span[0]) - 1, len(texts)):
        first, last = span[0] - starts[row], span[1] - starts[row]
        if last <= 0:
            break
        start, end = max(0, first), min(len(texts[row]), last)
        if start < end:
            yield row, leads[row] + start, leads[row] + end


@dataclass(frozen=True, slots=True)
class Hit:
    """The `nth` occurrence within an entry."""

    index: int
    nth: int


@dataclass(slots=True)
class Hits:
    """Hits counted by entry, so that a million hits cost no more than the entries do."""

    pattern: re.Pattern[str]
    _indexes: list[int] = field(default_factory=list)
    _ends: list[int] = field(default_factory=list)

    @property
    def count(self) -> int:
        return self._ends[-1] if self._ends else 0

    def scan(self, entries: Iterable[Entry]) -> Iterator[None]:
        """Search all entries; yields now and then, so that others can run."""
        searched = 0
        for index, entry in enumerate(entries):
            text = entry.source
            if found := sum(1 for _ in self.pattern.finditer(text)):
                self._indexes.append(index)
                self._ends.append(self.count + found)
            searched += len(text)
            if searched > SLICE:
                searched = 0
                yield

    def at(self, number: int) -> Hit:
        """Return a hit by its number in the session, from 0."""
        place = bisect_right(self._ends, number)
        return Hit(self._indexes[place], number - (self._ends[place - 1] if place else 0))

    def first_from(self, index: int) -> int:
        """Return the number of the first hit in this entry or below, or of the first of all."""
        place = bisect_left(self._indexes, index)
        return 0 if place in {0, len(self._ends)} else self._ends[place - 1]

    def last_before(self, index: int) -> int:
        """Return the number of the last hit in this entry or above, or of the last of all."""
        place = bisect_right(self._indexes, index)
        return (self._ends[place - 1] if place else self.count) - 1


Found = list[tuple[tuple[int, int, int], ...]]
_FADES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""How far a color may be blended with the plain one to be readable on the mark."""


class HitPaint:
    """Marks all hits, and the current one more strongly. The rows of an entry are searched once."""

    def __init__(self) -> None:
        self._pattern: re.Pattern[str] | None = None
        self._current: Hit | None = None
        self._known: dict[int, tuple[Sequence[Strip], Found]] = {}

    def show(self, pattern: re.Pattern[str] | None, current: Hit | None) -> None:
        if pattern is not self._pattern:
            self._known.clear()
        self._pattern, self._current = pattern, current

    def row_of(self, hit: Hit, rows: Sequence[Strip]) -> int | None:
        """Return the row of a hit; if it is cut off or collapsed, the row of the last visible hit."""
        found = self._found(hit.index, rows)
        return found[min(hit.nth, len(found) - 1)][0][0] if found else None

    def paint(self, index: int, rows: list[Strip], palette: Palette) -> list[Strip]:
        """Mark the hits in all rows of an entry."""
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
    """Mark a row with a bar, and with another background where it has the usual one."""
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
    """Put a style on the background of the mark, keeping its color as far as it is readable there."""
    # Loaded after the first paint, with everything that diffs need.
    from coder_tui.ui.diff.text import READABLE, contrast, rgb

    ink, plain, ground = rgb(style.color), rgb(base.color), rgb(cursor.bgcolor)
    if ink is None or plain is None or ground is None:
        return style + cursor
    for fade in _FADES:
        nearer = blend_rgb(ink, plain, fade)
        if contrast(nearer, ground) >= READABLE:
            return style + cursor + Style(color=Color.from_triplet(nearer))
    return style
