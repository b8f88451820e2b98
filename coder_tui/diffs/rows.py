"""Lay out a comparison as rows: the old line on the left, the new one on the right.

Pieces have a bounded size, and equal lines far from a change are folded.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import assert_never

from coder_tui.diffs.words import Pair, Span, align, changed_words
from coder_tui.protocol.comparison import Change, Comparison, Gap, Hunk, Same, Section, body_of

BLOCK = 64
"""Lines of a side that are paired at once; a longer run is paired in blocks when it is drawn."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A line with its number from 1; `emphasis` is in characters of the line, without its end."""

    number: int
    line: str
    is_changed: bool = False
    emphasis: tuple[Span, ...] = ()

    @property
    def body(self) -> str:
        return body_of(self.line)


@dataclass(frozen=True, slots=True)
class Row:
    old: Cell | None
    new: Cell | None


def split_rows(section: Section) -> Iterator[Row]:
    """Yield rows of two columns; none for a gap."""
    match section:
        case Same(old=old, new=new, lines=lines):
            for index, line in enumerate(lines, 1):
                yield Row(Cell(old + index, line), Cell(new + index, line))
        case Change():
            for block in blocks(section):
                yield from block_rows(block)
        case Gap():
            return
        case _:
            assert_never(section)


def blocks(change: Change) -> Iterator[Change]:
    """Yield a change in parts of a bounded size, cut at the same place on both sides."""
    for at in range(0, change.height, BLOCK):
        deleted, added = change.deleted[at : at + BLOCK], change.added[at : at + BLOCK]
        old, new = min(at, len(change.deleted)), min(at, len(change.added))
        yield Change(change.old + old, change.new + new, deleted, added)


@lru_cache(64)
def block_rows(block: Change) -> tuple[Row, ...]:
    """Return the rows of a block; cached, because its two sides may be drawn separately."""
    aligned = align(block.deleted, block.added)
    return tuple(_row(block, pair, index in aligned.related) for index, pair in enumerate(aligned.rows))


def _row(block: Change, pair: Pair, is_related: bool) -> Row:
    i, j = pair
    spans: tuple[tuple[Span, ...], tuple[Span, ...]] = ((), ())
    if i is not None and j is not None and is_related:
        spans = changed_words(body_of(block.deleted[i]), body_of(block.added[j]))
    return Row(
        None if i is None else Cell(block.old + i + 1, block.deleted[i], True, spans[0]),
        None if j is None else Cell(block.new + j + 1, block.added[j], True, spans[1]),
    )


_FEWEST_FOLDED = 4
"""Fewer lines are read as quickly as the text that would replace them."""
_FARTHEST_HEADING = 400
_HEADING = re.compile(r"[^\W\d]|\$")


class Side(StrEnum):
    BOTH = "both"
    OLD = "old"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of section number `section`; a gap stands for lines that are folded or unknown."""

    section: int
    part: Section
    side: Side = Side.BOTH
    hunk: str = ""

    @property
    def height(self) -> int:
        """Return the number of rows; if lines are not paired yet, the smallest possible number."""
        match self.part:
            case Change(deleted=deleted, added=added):
                heights = {Side.OLD: len(deleted), Side.NEW: len(added), Side.BOTH: self.part.height}
                return heights[self.side]
            case Gap():
                return 1
            case Same(lines=lines):
                return len(lines)

    def rows(self) -> Sequence[Row]:
        """Return the rows; none for a gap."""
        if not isinstance(self.part, Change):
            return list(split_rows(self.part))
        rows = block_rows(self.part)
        match self.side:
            case Side.BOTH:
                return rows
            case Side.OLD:
                return [Row(row.old, None) for row in rows if row.old]
            case Side.NEW:
                return [Row(None, row.new) for row in rows if row.new]

    def unpaired_rows(self) -> Sequence[Row]:
        """Return the rows of one side without changed words, which is immediate for any number."""
        match self.part, self.side:
            case Change(old=old, deleted=deleted), Side.OLD:
                return [Row(Cell(number, line, True), None) for number, line in enumerate(deleted, old + 1)]
            case Change(new=new, added=added), Side.NEW:
                return [Row(None, Cell(number, line, True)) for number, line in enumerate(added, new + 1)]
            case _:
                return self.rows()


def lay_out(
    comparison: Comparison, context: int | None, opened: Collection[int] = (), *, is_split: bool
) -> list[Piece]:
    """Return the pieces from top to bottom.

    `context` equal lines stay around changes (None: all), and `opened` sections are not folded.
    """
    owners = _owners(comparison.hunks)
    last = len(comparison.sections) - 1
    pieces: list[Piece] = []
    for index, section in enumerate(comparison.sections):
        owner = owners.get(index, "")
        if isinstance(section, Change):
            pieces += _changed(index, section, owner, is_split)
        elif isinstance(section, Gap) or context is None or index in opened:
            pieces += _whole(index, section, owner)
        else:
            head, tail = context if index else 0, context if index < last else 0
            pieces += _folded(index, section, owner, head, tail)
    return pieces


def _owners(hunks: Sequence[Hunk]) -> dict[int, str]:
    return {index: hunk.id for hunk in hunks for index in range(hunk.start, hunk.stop)}


def _changed(index: int, change: Change, owner: str, is_split: bool) -> Iterator[Piece]:
    parts = list(blocks(change))
    if is_split:
        yield from (Piece(index, part, Side.BOTH, owner) for part in parts)
        return
    yield from (Piece(index, part, Side.OLD, owner) for part in parts if part.deleted)
    yield from (Piece(index, part, Side.NEW, owner) for part in parts if part.added)


def _whole(index: int, section: Same | Gap, owner: str) -> Iterator[Piece]:
    if isinstance(section, Gap):
        yield Piece(index, section, Side.BOTH, owner)
        return
    for at in range(0, len(section.lines), BLOCK):
        part = Same(section.old + at, section.new + at, section.lines[at : at + BLOCK])
        yield Piece(index, part, Side.BOTH, owner)


def _folded(index: int, section: Same, owner: str, head: int, tail: int) -> Iterator[Piece]:
    hidden = len(section.lines) - head - tail
    if hidden < _FEWEST_FOLDED:
        yield from _whole(index, section, owner)
        return
    end = head + hidden
    yield from _whole(index, Same(section.old, section.new, section.lines[:head]), owner)
    heading = _heading(section.lines[head:end]) if tail else ""
    yield Piece(index, Gap(section.old + head, section.new + head, hidden, heading), Side.BOTH, owner)
    yield from _whole(index, Same(section.old + end, section.new + end, section.lines[end:]), owner)


def _heading(lines: Sequence[str]) -> str:
    """Return the nearest line above that begins at the margin: usually the enclosing function or class."""
    near = lines[: -_FARTHEST_HEADING - 1 : -1]
    return next((line.rstrip() for line in near if _HEADING.match(line)), "")
