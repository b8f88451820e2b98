"""Sections as rows: the old line on the left, the new one on the right, nothing opposite a gap."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import assert_never

from coder_tui.diffs.emphasis import Span, changed_words
from coder_tui.diffs.lines import body_of
from coder_tui.diffs.model import Change, Gap, Same, Section
from coder_tui.diffs.pairing import Pair, align

BLOCK = 64
"""Lines of a side that are paired at once: a longer run is taken in blocks, each when it is looked at."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A line with its number from 1; `emphasis` is in characters of the line, its end not counted."""

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
    """Rows of two columns; a gap has none."""
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


def unified_rows(section: Section) -> Iterator[Row]:
    """Rows of one column: what was deleted comes before what was added."""
    if not isinstance(section, Change):
        yield from split_rows(section)
        return
    rows = [row for block in blocks(section) for row in block_rows(block)]
    yield from (Row(row.old, None) for row in rows if row.old)
    yield from (Row(None, row.new) for row in rows if row.new)


def blocks(change: Change) -> Iterator[Change]:
    """A change in parts of a bounded size, cut at the same place on both sides."""
    for at in range(0, change.height, BLOCK):
        deleted, added = change.deleted[at : at + BLOCK], change.added[at : at + BLOCK]
        old, new = min(at, len(change.deleted)), min(at, len(change.added))
        yield Change(change.old + old, change.new + new, deleted, added)


@lru_cache(64)
def block_rows(block: Change) -> tuple[Row, ...]:
    """Kept for a while, because the two sides of a block may be drawn apart."""
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
