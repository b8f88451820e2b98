"""Lay out compared files in rows, of which only those near the view are drawn."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil
from typing import TypeAlias, assert_never

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from coder_tui.diffs.rows import Piece, Side, lay_out
from coder_tui.protocol.comparison import Change, Comparison, FileState, Gap, Same
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.ui.diff.rows import DiffLook, LazyColors, Painter, numbered
from coder_tui.ui.diff.text import diff_styles
from coder_tui.ui.draw.entry_strips import Place, RowIndex
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.strips import LONGEST_LINE, TAB, broken, cut, cut_text, filled, plain_strip, to_strip


@dataclass(frozen=True, slots=True)
class Heading:
    file: Comparison


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment of the user on a hunk."""

    hunk: str
    words: str


def has_heading(file: Comparison) -> bool:
    """Return whether a heading says something that the lines do not."""
    return file.state is not FileState.CHANGED or bool(file.notes) or not file.hunks


def file_words(file: Comparison) -> str:
    """Describe a file by its name and what happened to it."""
    match file.state:
        case FileState.CHANGED:
            return file.path
        case FileState.CREATED:
            return f"{file.path}  new file"
        case FileState.DELETED:
            return f"{file.path}  deleted"
        case FileState.RENAMED:
            return f"{file.path}  renamed from {file.old_path}"
        case _:
            assert_never(file.state)


def draw_frame(
    item: Heading | Piece | Remark, look: DiffLook, palette: Palette, *, can_open: bool
) -> list[Strip]:
    match item:
        case Heading(file=file):
            return [_heading(file, look.width, palette), *_notes(file, look.width, palette)]
        case Remark(words=words):
            lines = safe_text(words).split("\n")
            rows = [row for line in lines for row in broken(f"{palette.glyphs.quote} {line}", look.width)]
            return [plain_strip(row, look.width, palette.warning) for row in rows]
        case Piece(part=Gap() as gap):
            return [_fold(gap, look.width, palette, can_open=can_open)]
        case _:
            return []


def _heading(file: Comparison, width: int, palette: Palette) -> Strip:
    ground = Style(bgcolor=palette.code_block.bgcolor)
    counts = Text(end="")
    counts.append(f" +{file.additions}", palette.ok + ground)
    counts.append(f" -{file.deletions}", palette.warning + ground)
    name = Text(safe_line(file_words(file)), palette.heading + ground, end="")
    cut_text(name, max(1, width - counts.cell_len), palette.glyphs.more)
    return to_strip(Text.assemble(name, counts, end=""), width, palette.code_block)


def _notes(file: Comparison, width: int, palette: Palette) -> list[Strip]:
    notes = [safe_line(note) for note in file.notes]
    if not file.hunks and not notes:
        has_lines = file.sections or file.state is FileState.RENAMED
        notes = ["No lines differ." if has_lines else "The file is empty."]
    return [plain_strip(row, width, palette.dim) for note in notes for row in broken(note, width)]


def _fold(gap: Gap, width: int, palette: Palette, *, can_open: bool) -> Strip:
    glyphs = palette.glyphs
    mark = glyphs.folded if can_open else glyphs.more
    lines = "line" if gap.count == 1 else "lines"
    count = f" {gap.count} unchanged {lines}" if gap.count else ""
    heading = f"  {safe_line(gap.heading.strip())}" if gap.heading else ""
    words = cut(f"{glyphs.rule * 2} {mark}{count}{heading} ", width, glyphs.more)
    rule = Segment(glyphs.rule * (width - len(words)), palette.dim)
    return filled([Segment(words, palette.dim), rule], width, palette.dim)


KEPT = 64
"""Pieces whose rows stay drawn."""
CONTEXT = 3

Item: TypeAlias = Heading | Piece | Remark


@dataclass(frozen=True, slots=True)
class Anchor:
    """A row by its line, which is right in every layout. A section below 0 is the file's heading."""

    file: int
    section: int = -1
    line: int = 0
    side: Side = Side.BOTH


@dataclass(frozen=True, slots=True)
class Shape:
    """Everything that decides how many rows there are."""

    look: DiffLook
    context: int | None = CONTEXT
    opened: frozenset[tuple[int, int]] = frozenset()
    remarks: Mapping[str, str] = field(default_factory=dict)


class DiffSheet:
    def __init__(self, files: Sequence[Comparison]) -> None:
        self.files = tuple(files)
        self.colors = [LazyColors(file) for file in files]
        self.index = RowIndex()
        self.shape: Shape | None = None
        self._items: list[tuple[int, Item]] = []
        self._strips: OrderedDict[int, list[Strip]] = OrderedDict()
        self._palette: Palette | None = None
        self._painters: list[Painter] = []

    @cached_property
    def widest(self) -> int:
        """The columns of the longest line."""
        lines = (line for file in self.files for section in file.sections for line in _lines(section))
        longest = max(lines, key=len, default="")[:LONGEST_LINE]
        # Exact for that one; another may be wider only because of tabs and wide characters.
        return min(LONGEST_LINE, max(cell_len(longest.expandtabs(TAB)), len(longest)))

    @property
    def source(self) -> str:
        """The lines of the new files, or of the old one if a file was deleted."""
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
        """Lay out everything again; nothing is drawn yet."""
        self.shape, self._palette = shape, palette
        looks = [
            shape.look.for_file(file, has_ends=mixes)
            for file, mixes in zip(self.files, self._mixed, strict=True)
        ]
        self._painters = [Painter(look, diff_styles(palette)) for look in looks]
        self._strips.clear()
        numbers = range(len(self.files))
        self._items = [(number, item) for number in numbers for item in self._items_of(number, shape)]
        self.index.replace_all(1 if not isinstance(item, Piece) else item.height for _, item in self._items)

    def _items_of(self, number: int, shape: Shape) -> Iterator[Item]:
        file = self.files[number]
        if len(self.files) > 1 or has_heading(file):
            yield Heading(file)
        opened = {section for of, section in shape.opened if of == number}
        is_split = self._painters[number].look.is_split
        pieces = lay_out(file, shape.context, opened, is_split=is_split)
        for piece, following in zip(pieces, [*pieces[1:], None], strict=False):
            yield piece
            is_last = following is None or following.hunk != piece.hunk
            if is_last and (words := shape.remarks.get(piece.hunk)):
                yield Remark(piece.hunk, words)

    def settle(self, place: Place, height: int) -> bool:
        """Draw around a place, so that its rows are exact, and return whether a height has changed."""
        above = self.index.settle(range(place.index - 1, -1, -1), height // 2, self._measure)
        below = range(place.index, len(self._items))
        return self.index.settle(below, height + place.offset, self._measure) or above

    def _measure(self, index: int) -> int:
        return len(self._drawn(index))

    def rows(self, first: int, last: int) -> Iterator[tuple[Strip, str]]:
        """Return rows with the hunk that each belongs to; fewer at the end."""
        index = self.index.index_at(first)
        while 0 <= index < len(self._items) and self.index.start(index) < last:
            start, hunk = self.index.start(index), _hunk_of(self._items[index][1])
            for row, strip in enumerate(self._drawn(index)[: self.index.height(index)], start):
                if first <= row < last:
                    yield strip, hunk
            index += 1

    def item_at(self, row: int) -> tuple[int, Item] | None:
        """Return the number of the file and the item on a row."""
        is_inside = 0 <= row < self.index.total
        return self._items[self.index.index_at(row)] if is_inside else None

    def hunk_rows(self) -> Mapping[str, int]:
        """Return the first row of each hunk, from top to bottom."""
        found: dict[str, int] = {}
        for index, (_, item) in enumerate(self._items):
            if hunk := _hunk_of(item):
                found.setdefault(hunk, self.index.start(index))
        return found

    def file_rows(self) -> Mapping[int, int]:
        """Return the first row of each file."""
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
        """Return the row where that line is now, or the nearest one."""
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
        """Return the rows of a piece above one of its lines."""
        file, piece = self._items[index]
        assert isinstance(piece, Piece)
        self.index.change(index, len(self._drawn(index)))
        height = self.index.height(index)
        passed = (line - self._line(file, piece)) / max(1, piece.part.height)
        return max(0, min(height - 1, ceil(passed * height)))

    def _line(self, file: int, piece: Piece) -> int:
        """Return the offset of a piece in its section."""
        section = self.files[file].sections[piece.section]
        return max(piece.part.old - section.old, piece.part.new - section.new)

    def redraw(self) -> None:
        """Drop what is drawn, but keep the layout."""
        self._strips.clear()

    def _drawn(self, index: int) -> list[Strip]:
        if index not in self._strips:
            self._strips[index] = self._draw(*self._items[index])
            while len(self._strips) > KEPT:
                self._strips.popitem(last=False)
        self._strips.move_to_end(index)
        return self._strips[index]

    def _draw(self, number: int, item: Item) -> list[Strip]:
        assert self._palette is not None and self.shape is not None, "call arrange first"
        if isinstance(item, Piece) and not isinstance(item.part, Gap):
            return self._painters[number].strips(item.rows(), self.colors[number])
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
