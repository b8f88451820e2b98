"""Compared files as rows of which only those near the view are ever drawn."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil
from typing import TypeAlias

from rich.cells import cell_len
from textual.strip import Strip

from coder_tui.diffs.model import Change, Comparison, FileState, Gap, Same
from coder_tui.diffs.rows import Piece, Side, laid_out
from coder_tui.ui.diff.colors import LazyColours, numbered
from coder_tui.ui.diff.frames import Heading, Remark, draw_frame, has_heading
from coder_tui.ui.diff.rows import DiffLook, Painter
from coder_tui.ui.diff.text import diff_inks
from coder_tui.ui.draw.entry_strips import Place, RowIndex
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.strips import LONGEST_LINE, TAB

KEPT = 64
"""Pieces whose rows stay drawn."""
CONTEXT = 3

Item: TypeAlias = Heading | Piece | Remark


@dataclass(frozen=True, slots=True)
class Anchor:
    """A row by the line that stands there: true in every layout. A section below 0 is the file's name."""

    file: int
    section: int = -1
    line: int = 0
    side: Side = Side.BOTH


@dataclass(frozen=True, slots=True)
class Shape:
    """What decides on the rows there are."""

    look: DiffLook
    context: int | None = CONTEXT
    opened: frozenset[tuple[int, int]] = frozenset()
    remarks: Mapping[str, str] = field(default_factory=dict)


class DiffSheet:
    def __init__(self, files: Sequence[Comparison]) -> None:
        self.files = tuple(files)
        self.colours = [LazyColours(file) for file in files]
        self.index = RowIndex()
        self.shape: Shape | None = None
        self._items: list[tuple[int, Item]] = []
        self._strips: OrderedDict[int, list[Strip]] = OrderedDict()
        self._palette: Palette | None = None
        self._painters: list[Painter] = []

    @cached_property
    def widest(self) -> int:
        """Columns that the longest line takes."""
        lines = (line for file in self.files for section in file.sections for line in _lines(section))
        longest = max(lines, key=len, default="")[:LONGEST_LINE]
        # Exact for that one; others may be wider by their tabs and wide letters only.
        return min(LONGEST_LINE, max(cell_len(longest.expandtabs(TAB)), len(longest)))

    @property
    def source(self) -> str:
        """The lines of the new files, or of the old one where a file is gone."""
        sides = [Side.OLD if file.state is FileState.DELETED else Side.NEW for file in self.files]
        pairs = zip(self.files, sides, strict=True)
        return "".join(line for file, side in pairs for _, line in numbered(file, side))

    @cached_property
    def largest_number(self) -> int:
        ends = (
            max(section.old, section.new) + section.height for file in self.files for section in file.sections
        )
        return max(ends, default=1)

    @cached_property
    def _mixed(self) -> list[bool]:
        return [file.mixes_line_ends for file in self.files]

    def arrange(self, shape: Shape, palette: Palette) -> None:
        """Lay everything out anew; nothing is drawn yet."""
        self.shape, self._palette = shape, palette
        looks = [
            shape.look.for_file(file, has_ends=mixes)
            for file, mixes in zip(self.files, self._mixed, strict=True)
        ]
        self._painters = [Painter(look, diff_inks(palette)) for look in looks]
        self._strips.clear()
        numbers = range(len(self.files))
        self._items = [(number, item) for number in numbers for item in self._of_file(number, shape)]
        self.index.replace_all(1 if not isinstance(item, Piece) else item.height for _, item in self._items)

    def _of_file(self, number: int, shape: Shape) -> Iterator[Item]:
        file = self.files[number]
        if len(self.files) > 1 or has_heading(file):
            yield Heading(file)
        opened = {section for of, section in shape.opened if of == number}
        is_split = self._painters[number].look.is_split
        pieces = laid_out(file, shape.context, opened, is_split=is_split)
        for piece, following in zip(pieces, [*pieces[1:], None], strict=False):
            yield piece
            is_last = following is None or following.hunk != piece.hunk
            if is_last and (words := shape.remarks.get(piece.hunk)):
                yield Remark(piece.hunk, words)

    def settle(self, place: Place, height: int) -> bool:
        """Draw what is around a place, so that its rows are exact; says whether one was not."""
        above = self._settle(range(place.index - 1, -1, -1), height // 2)
        below = self._settle(range(place.index, len(self._items)), height + place.offset)
        return above or below

    def _settle(self, indexes: range, rows: int) -> bool:
        has_changed, measured = False, 0
        for index in indexes:
            if measured >= rows:
                break
            has_changed |= self.index.change(index, len(self._drawn(index)))
            measured += self.index.height(index)
        return has_changed

    def rows(self, first: int, last: int) -> Iterator[tuple[Strip, str]]:
        """Rows with the hunk that each belongs to; fewer at the end."""
        index = self.index.index_at(first)
        while 0 <= index < len(self._items) and self.index.start(index) < last:
            start, hunk = self.index.start(index), _hunk_of(self._items[index][1])
            for row, strip in enumerate(self._drawn(index)[: self.index.height(index)], start):
                if first <= row < last:
                    yield strip, hunk
            index += 1

    def item_at(self, row: int) -> tuple[int, Item] | None:
        """The item on a row and the number of its file."""
        is_inside = 0 <= row < self.index.total
        return self._items[self.index.index_at(row)] if is_inside else None

    def hunk_rows(self) -> Mapping[str, int]:
        """Each hunk's first row, from top to bottom."""
        found: dict[str, int] = {}
        for index, (_, item) in enumerate(self._items):
            if hunk := _hunk_of(item):
                found.setdefault(hunk, self.index.start(index))
        return found

    def file_rows(self) -> Mapping[int, int]:
        """Each file's first row."""
        found: dict[int, int] = {}
        for index, (number, _) in enumerate(self._items):
            found.setdefault(number, self.index.start(index))
        return found

    def anchor(self, row: int) -> Anchor:
        index = self.index.index_at(row)
        while index > 0 and isinstance(self._items[index][1], Remark):
            index -= 1
        if index < 0 or not isinstance(piece := self._items[index][1], Piece):
            return Anchor(self._items[index][0] if index >= 0 else 0)
        file = self._items[index][0]
        passed = (row - self.index.start(index)) / max(1, self.index.height(index))
        line = self._line(file, piece) + int(min(passed, 1) * piece.part.height)
        return Anchor(file, piece.section, line, piece.side)

    def row_of(self, anchor: Anchor) -> int:
        """The row of that line as it is drawn now, or the nearest there is."""
        found = -1
        for index, (file, item) in enumerate(self._items):
            if not isinstance(item, Piece) or (file, item.section) != (anchor.file, anchor.section):
                continue
            is_side = item.side is anchor.side or Side.BOTH in {item.side, anchor.side}
            if found < 0 or (is_side and self._line(file, item) <= anchor.line):
                found = index
        if found < 0:
            return self.file_rows().get(anchor.file, 0)
        return self.index.start(found) + self._rows_above(found, anchor.line)

    def _rows_above(self, index: int, line: int) -> int:
        """Rows of a piece above one of its lines."""
        file, piece = self._items[index]
        assert isinstance(piece, Piece)
        self.index.change(index, len(self._drawn(index)))
        height = self.index.height(index)
        passed = (line - self._line(file, piece)) / max(1, piece.part.height)
        return max(0, min(height - 1, ceil(passed * height)))

    def _line(self, file: int, piece: Piece) -> int:
        """Where in its section a piece begins."""
        section = self.files[file].sections[piece.section]
        return max(piece.part.old - section.old, piece.part.new - section.new)

    def redraw(self) -> None:
        """Forget what is drawn but not where it stands."""
        self._strips.clear()

    def _drawn(self, index: int) -> list[Strip]:
        if index not in self._strips:
            self._strips[index] = self._draw(*self._items[index])
            while len(self._strips) > KEPT:
                self._strips.popitem(last=False)
        self._strips.move_to_end(index)
        return self._strips[index]

    def _draw(self, number: int, item: Item) -> list[Strip]:
        assert self._palette is not None and self.shape is not None, "arrange comes first"
        if isinstance(item, Piece) and not isinstance(item.part, Gap):
            return self._painters[number].strips(item.rows(), self.colours[number])
        sections = self.files[number].sections
        can_open = isinstance(item, Piece) and isinstance(sections[item.section], Same)
        return draw_frame(item, self.shape.look, self._palette, can_open=can_open)


def _hunk_of(item: Item) -> str:
    return "" if isinstance(item, Heading) else item.hunk


def _lines(section: object) -> tuple[str, ...]:
    match section:
        case Same(lines=lines):
            return lines
        case Change(deleted=deleted, added=added):
            return deleted + added
        case _:
            return ()
