"""Rows of a diff as strips: one column or two, wrapped or cut at a window that moves sideways."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from textual.strip import Strip

from coder_tui.diffs.model import Comparison
from coder_tui.diffs.rows import Cell, Row, Side
from coder_tui.ui.diff.colors import Colours
from coder_tui.ui.diff.text import DiffInks, Ground, Marking, cell_segments, shown
from coder_tui.ui.draw.code import CodeLine
from coder_tui.ui.draw.strips import NARROWEST, filled

SIGN = 3
"""Columns between a number and the code: a blank, the sign, a blank."""
_LATE_BLANK = 0.7
"""Where in a row a blank has to come to be worth a shorter row."""
_NO_NEWLINE = "No newline at end of file"


@dataclass(frozen=True, slots=True)
class DiffLook:
    """`digits` is the room for a line number; `left` the columns of code that are scrolled out."""

    width: int
    marking: Marking
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

    def for_file(self, file: Comparison, *, has_ends: bool) -> "DiffLook":
        """A file with one side only has one column and one number; line ends show where they are mixed."""
        marking = replace(self.marking, line_ends=has_ends)
        if not file.is_one_sided:
            return replace(self, marking=marking)
        return replace(self, marking=marking, is_split=False, has_both_numbers=False)

    @property
    def room(self) -> int:
        """Columns of code, on the narrower side."""
        return max(NARROWEST, (self.halves[0] if self.is_split else self.width) - self.gutter)


@dataclass(frozen=True, slots=True)
class Painter:
    """Draws rows in one look and one set of inks."""

    look: DiffLook
    inks: DiffInks

    def strips(self, rows: Iterable[Row], colours: Colours) -> list[Strip]:
        draw = self._split if self.look.is_split else self._unified
        return [strip for row in rows for strip in draw(row, colours)]

    def _split(self, row: Row, colours: Colours) -> Iterator[Strip]:
        left, right = self.look.halves
        old = self._side(row.old, Side.OLD, left, colours)
        new = self._side(row.new, Side.NEW, right, colours)
        bar = Segment(self.look.marking.glyphs.edge, self.inks.dim)
        blanks = self._below(row.old, left), self._below(row.new, right)
        for one, other in zip_longest(old, new):
            yield Strip([*(one or blanks[0]), bar, *(other or blanks[1])], self.look.width)

    def _side(self, cell: Cell | None, side: Side, width: int, colours: Colours) -> list[Strip]:
        if cell is None:
            return []
        number = f"{cell.number:>{self.look.digits}}"
        return list(self._lines(cell, side, number, width, colours(side, cell.number)))

    def _below(self, cell: Cell | None, width: int) -> CodeLine:
        """What stands beside rows that the other side has more of."""
        if cell is not None:
            return [Segment(" " * width, self.inks.same.plain)]
        return [Segment(self.look.marking.glyphs.hatch * width, self.inks.filler)]

    def _unified(self, row: Row, colours: Colours) -> Iterator[Strip]:
        cell, side = (row.new, Side.NEW) if row.new else (row.old, Side.OLD)
        if cell is None:
            return
        number = f"{cell.number:>{self.look.digits}}"
        if self.look.has_both_numbers:
            numbers = (f"{each.number if each else '':>{self.look.digits}}" for each in (row.old, row.new))
            number = " ".join(numbers)
        yield from self._lines(cell, side, number, self.look.width, colours(side, cell.number))

    def _lines(
        self, cell: Cell, side: Side, number: str, width: int, colours: CodeLine | None
    ) -> Iterator[Strip]:
        """One line in rows of exactly a width."""
        ground, sign = self._ground(cell, side)
        segments = cell_segments(cell, ground, self.look.marking, colours)
        room = max(NARROWEST, width - self.look.gutter)
        hang = len(cell.body) - len(cell.body.lstrip(" \t"))
        hang = min(cell_len(shown(cell.body[:hang]).text), room // 2)
        pieces = _wrapped(segments, room, hang, ground) if self.look.wraps else [self._window(segments, room)]
        numbers = Segment(f"{number} ", self.inks.dim)
        for piece in pieces:
            yield filled([numbers, Segment(f"{sign} ", ground.sign), *piece], width, ground.plain)
            numbers = Segment(f"{self.look.marking.glyphs.wrapped:>{len(number)}} ", self.inks.dim)
        if not cell.line.endswith("\n"):
            words = Segment(f"{'':>{len(number)}} {_NO_NEWLINE}", self.inks.dim)
            yield filled([words], width, self.inks.same.plain)

    def _ground(self, cell: Cell, side: Side) -> tuple[Ground, str]:
        if not cell.is_changed:
            return self.inks.same, " "
        return (self.inks.deleted, "-") if side is Side.OLD else (self.inks.added, "+")

    def _window(self, segments: CodeLine, room: int) -> CodeLine:
        """The part of a line that is in sight; a mark says where it goes on."""
        length = sum(cell_len(segment.text) for segment in segments)
        if not self.look.left and length <= room:
            return segments
        left, more = self.look.left, self.look.marking.glyphs.more
        shown = Strip(segments, length)
        if length - left <= room:
            return list(shown.crop(left, length))
        return [*shown.crop(left, left + room - cell_len(more)), Segment(more, self.inks.dim)]


def _wrapped(segments: CodeLine, room: int, hang: int, ground: Ground) -> Iterator[CodeLine]:
    """Rows of a width; those below the first are set in as the first is."""
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
    """Pieces of so many characters; Rich's own way measures all of the rest anew for each of them."""
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
    """Cut after a blank where one is near the end of a row, else anywhere."""
    at = 0
    room = first
    while at < len(text):
        piece = chop_cells(text[at : at + room], room)[0]
        blank = piece.rfind(" ") + 1
        if at + len(piece) < len(text) and blank > room * _LATE_BLANK:
            piece = piece[:blank]
        yield piece
        at, room = at + len(piece), width
