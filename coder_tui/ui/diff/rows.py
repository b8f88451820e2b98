"""Draw rows of a diff as strips: in one column or two, wrapped or scrolled sideways."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TypeAlias

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from textual.strip import Strip

from coder_tui.diffs.rows import Cell, Row, Side
from coder_tui.protocol.comparison import Change, Comparison, Gap, Same, body_of
from coder_tui.ui.diff.text import (
    DiffStyles,
    LineStyles,
    WhitespaceMarks,
    cell_segments,
    colored_part,
    draw_line,
)
from coder_tui.ui.draw.code import CodeLine, code_lines, language_of
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.strips import NARROWEST, filled

AT_ONCE = 1000
"""Lines that are colored in one go, without the lines before them."""

LineColors: TypeAlias = Callable[[Side, int], CodeLine | None]
"""(side, line number) -> the colored line, None if it is not colored yet."""

Bucket: TypeAlias = tuple[Side, int]
"""A side and which thousand of its lines."""


def no_colors(side: Side, number: int) -> CodeLine | None:
    return None


def color_side(
    comparison: Comparison, side: Side, palette: Palette, bucket: int | None = None
) -> Mapping[int, CodeLine]:
    """Color the known lines of a side, or of one bucket, by number. Slow, but it may run in a thread."""
    language = language_of(comparison.path or comparison.old_path)
    known = {n: line for n, line in numbered(comparison, side) if bucket is None or n // AT_ONCE == bucket}
    if not language or not known:
        return {}
    code = "\n".join(colored_part(body_of(line)) for line in known.values())
    return dict(zip(known, code_lines(code, language, palette), strict=True))


def all_colors(comparison: Comparison, palette: Palette) -> LineColors:
    """Color all lines, for a short diff."""
    found = {side: color_side(comparison, side, palette) for side in (Side.OLD, Side.NEW)}
    return lambda side, number: found[side].get(number)


def numbered(comparison: Comparison, side: Side) -> Iterator[tuple[int, str]]:
    """Return the known lines of one side with their numbers."""
    for section in comparison.sections:
        match section:
            case Gap():
                continue
            case Same(lines=lines):
                pass
            case Change(deleted=deleted, added=added):
                lines = deleted if side is Side.OLD else added
        start = section.old if side is Side.OLD else section.new
        yield from enumerate(lines, start + 1)


class LazyColors:
    """Colors that are computed for some lines at a time, when they come into view."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self._done: dict[Bucket, Mapping[int, CodeLine]] = {}
        self._requests: set[Bucket] = set()

    def __call__(self, side: Side, number: int) -> CodeLine | None:
        """Return the colored line, or request it and return None."""
        bucket = (side, number // AT_ONCE)
        lines = self._done.get(bucket)
        if lines is None:
            self._requests.add(bucket)
            return None
        return lines.get(number)

    @property
    def has_requests(self) -> bool:
        return bool(self._requests)

    def forget(self) -> None:
        """Drop the colors of the previous theme."""
        self._done.clear()
        self._requests.clear()

    def pop_requests(self) -> list[Bucket]:
        """Return what was requested since the last call."""
        asked, self._requests = sorted(self._requests), set()
        return asked

    def compute(self, bucket: Bucket, palette: Palette) -> Mapping[int, CodeLine]:
        """Color lines, in a thread; the caller passes them to `store`."""
        return color_side(self._comparison, bucket[0], palette, bucket[1])

    def store(self, bucket: Bucket, lines: Mapping[int, CodeLine]) -> None:
        self._done[bucket] = lines


SPLIT_ROOM = 50
"""Columns of code on each side from which two columns are the default."""
LEAST_ROOM = 20
"""With fewer columns of code on each side there are never two."""
SIGN = 3
"""Columns between a line number and the code: a blank, the sign, a blank."""
_LATE_BLANK = 0.7
"""How far into a row a blank must be for the row to break there."""
_NO_NEWLINE = "No newline at end of file"


@dataclass(frozen=True, slots=True)
class DiffLook:
    """`digits` is the width of a line number, `left` the number of columns scrolled out of view."""

    width: int
    marking: WhitespaceMarks
    digits: int = 5
    is_split: bool = False
    has_both_numbers: bool = False
    wraps: bool = True
    left: int = 0

    @property
    def halves(self) -> tuple[int, int]:
        """The widths of the two columns."""
        left = (self.width - 1) // 2
        return left, self.width - 1 - left

    @property
    def gutter(self) -> int:
        numbers = 2 * self.digits + 1 if self.has_both_numbers and not self.is_split else self.digits
        return numbers + SIGN

    def fit(self, width: int, wanted_split: bool | None) -> "DiffLook":
        """Return the look at a width, in two columns if there is room and the user did not ask for one."""
        two = replace(self, width=width, is_split=True)
        least = SPLIT_ROOM if wanted_split is None else LEAST_ROOM
        is_split = wanted_split is not False and two.room >= least
        return two if is_split else replace(two, is_split=False)

    def for_file(self, file: Comparison, *, has_ends: bool) -> "DiffLook":
        """Adapt to a file: one column if it has one side only, and visible line ends if they are mixed."""
        marking = replace(self.marking, line_ends=has_ends)
        if not file.is_one_sided:
            return replace(self, marking=marking)
        return replace(self, marking=marking, is_split=False, has_both_numbers=False)

    @property
    def room(self) -> int:
        """The columns of code on the narrower side."""
        return max(NARROWEST, (self.halves[0] if self.is_split else self.width) - self.gutter)


@dataclass(frozen=True, slots=True)
class Painter:
    """Draws rows in one look and one set of styles."""

    look: DiffLook
    styles: DiffStyles

    def strips(self, rows: Iterable[Row], colors: LineColors) -> list[Strip]:
        draw = self._split if self.look.is_split else self._unified
        return [strip for row in rows for strip in draw(row, colors)]

    def _split(self, row: Row, colors: LineColors) -> Iterator[Strip]:
        left, right = self.look.halves
        old = self._side(row.old, Side.OLD, left, colors)
        new = self._side(row.new, Side.NEW, right, colors)
        bar = Segment(self.look.marking.glyphs.edge, self.styles.dim)
        blanks = self._below(row.old, left), self._below(row.new, right)
        for one, other in zip_longest(old, new):
            yield Strip([*(one or blanks[0]), bar, *(other or blanks[1])], self.look.width)

    def _side(self, cell: Cell | None, side: Side, width: int, colors: LineColors) -> list[Strip]:
        if cell is None:
            return []
        number = f"{cell.number:>{self.look.digits}}"
        return list(self._lines(cell, side, number, width, colors(side, cell.number)))

    def _below(self, cell: Cell | None, width: int) -> CodeLine:
        """Fill the side that has fewer rows."""
        if cell is not None:
            return [Segment(" " * width, self.styles.same.plain)]
        return [Segment(self.look.marking.glyphs.hatch * width, self.styles.filler)]

    def _unified(self, row: Row, colors: LineColors) -> Iterator[Strip]:
        cell, side = (row.new, Side.NEW) if row.new else (row.old, Side.OLD)
        if cell is None:
            return
        number = f"{cell.number:>{self.look.digits}}"
        if self.look.has_both_numbers:
            numbers = (f"{each.number if each else '':>{self.look.digits}}" for each in (row.old, row.new))
            number = " ".join(numbers)
        yield from self._lines(cell, side, number, self.look.width, colors(side, cell.number))

    def _lines(
        self, cell: Cell, side: Side, number: str, width: int, colors: CodeLine | None
    ) -> Iterator[Strip]:
        """Draw one line in rows of an exact width."""
        ground, sign = self._line_styles(cell, side)
        segments = cell_segments(cell, ground, self.look.marking, colors)
        room = max(NARROWEST, width - self.look.gutter)
        hang = len(cell.body) - len(cell.body.lstrip(" \t"))
        hang = min(cell_len(draw_line(cell.body[:hang]).text), room // 2)
        pieces = _wrapped(segments, room, hang, ground) if self.look.wraps else [self._window(segments, room)]
        numbers = Segment(f"{number} ", self.styles.dim)
        for piece in pieces:
            yield filled([numbers, Segment(f"{sign} ", ground.sign), *piece], width, ground.plain)
            numbers = Segment(f"{self.look.marking.glyphs.wrapped:>{len(number)}} ", self.styles.dim)
        if not cell.line.endswith("\n"):
            words = Segment(f"{'':>{len(number)}} {_NO_NEWLINE}", self.styles.dim)
            yield filled([words], width, self.styles.same.plain)

    def _line_styles(self, cell: Cell, side: Side) -> tuple[LineStyles, str]:
        if not cell.is_changed:
            return self.styles.same, " "
        return (self.styles.deleted, "-") if side is Side.OLD else (self.styles.added, "+")

    def _window(self, segments: CodeLine, room: int) -> CodeLine:
        """Return the part of a line in view; a mark says that it continues."""
        length = sum(cell_len(segment.text) for segment in segments)
        if not self.look.left and length <= room:
            return segments
        left, more = self.look.left, self.look.marking.glyphs.more
        shown = Strip(segments, length)
        if length - left <= room:
            return list(shown.crop(left, length))
        return [*shown.crop(left, left + room - cell_len(more)), Segment(more, self.styles.dim)]


def _wrapped(segments: CodeLine, room: int, hang: int, ground: LineStyles) -> Iterator[CodeLine]:
    """Wrap a line; the rows below are indented like the first one."""
    text = "".join(segment.text for segment in segments)
    length = cell_len(text)
    if length <= room:
        yield segments
        return
    margin = [Segment(" " * hang, ground.plain)] if hang else []
    pieces = _pieces(text, room, max(NARROWEST, room - hang))
    for number, piece in enumerate(_divided(segments, map(len, pieces))):
        yield [*margin, *piece] if number else piece


def _divided(segments: CodeLine, lengths: Iterable[int]) -> Iterator[CodeLine]:
    """Split segments into pieces of these lengths; Rich would measure all of the rest for each piece."""
    at, offset = 0, 0
    for length in lengths:
        piece: CodeLine = []
        while length > 0:
            text, style = segments[at].text, segments[at].style
            piece.append(Segment(text[offset : offset + length], style))
            taken = min(length, len(text) - offset)
            length, offset = length - taken, offset + taken
            if offset == len(text):
                at, offset = at + 1, 0
        yield piece


def _pieces(text: str, first: int, width: int) -> Iterator[str]:
    """Break after a blank that is near the end of a row, else anywhere."""
    at = 0
    room = first
    while at < len(text):
        piece = chop_cells(text[at : at + room], room)[0]
        blank = piece.rfind(" ") + 1
        if at + len(piece) < len(text) and blank > room * _LATE_BLANK:
            piece = piece[:blank]
        yield piece
        at, room = at + len(piece), width
