"""Finding words in the texts of entries, and where they stand among the rows of one."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from coder_tui.ui.drawing.entries import Entry

SLICE = 400_000
"""Characters searched in one go: some milliseconds, so that keys come through in a long session."""

_EDGES = " │▌▎↳|\\"
"""What stands before the words of a row that goes on with the one above."""
_MARKUP = r"[*_`~]*"

Spans = list[tuple[int, int]]
"""Places in a row, by characters."""


def pattern_of(words: str) -> re.Pattern[str] | None:
    """Blanks match any blanks, also across emphasis; letters match any case unless one is a capital."""
    parts = words.split()
    if not parts:
        return None
    flags = 0 if any(map(str.isupper, words)) else re.IGNORECASE
    return re.compile(rf"{_MARKUP}\s+{_MARKUP}".join(map(re.escape, parts)), flags)


def spans_in(rows: Sequence[str], pattern: re.Pattern[str]) -> list[tuple[tuple[int, int, int], ...]]:
    """Each hit among the rows of one entry: (row, start, end), several where it goes on in the next row."""
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
    """Counted by entry, so that a letter found a million times costs no more than the entries."""

    pattern: re.Pattern[str]
    _indexes: list[int] = field(default_factory=list)
    _ends: list[int] = field(default_factory=list)

    @property
    def count(self) -> int:
        return self._ends[-1] if self._ends else 0

    def scan(self, entries: Iterable[Entry]) -> Iterator[None]:
        """Search all entries; stops for breath now and then."""
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
        """By its number in the whole session, from 0."""
        place = bisect_right(self._ends, number)
        return Hit(self._indexes[place], number - (self._ends[place - 1] if place else 0))

    def first_from(self, index: int) -> int:
        """The number of the first hit in this entry or below it; where there is none, of the first of all."""
        place = bisect_left(self._indexes, index)
        return 0 if place in {0, len(self._ends)} else self._ends[place - 1]

    def last_before(self, index: int) -> int:
        """The number of the last hit in this entry or above it; where there is none, of the last of all."""
        place = bisect_right(self._indexes, index)
        return (self._ends[place - 1] if place else self.count) - 1
