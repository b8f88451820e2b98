"""A whole diff in a dialog: in one column or two, with long lines wrapped or cut.

A change before it is made, hunk by hunk: single ones can be refused.

A unified diff in the transcript: line numbers, signs that are always printed, colours that help.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from rich.segment import Segment
from textual.strip import Strip

from coder_tui.diffs.model import Comparison, Gap
from coder_tui.diffs.rows import laid_out
from coder_tui.diffs.unified import parse_unified
from coder_tui.protocol.display import DiffBlock
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.ui.diff.colors import all_colours, no_colours
from coder_tui.ui.diff.frames import file_words
from coder_tui.ui.diff.rows import DiffLook, Painter
from coder_tui.ui.diff.surface import LEAST_ROOM, SPLIT_ROOM
from coder_tui.ui.diff.text import Marking, diff_inks
from coder_tui.ui.draw.glyphs import UNICODE, Glyphs
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.strips import plain_rows, plain_strip
from coder_tui.ui.draw.widget import DrawnWhole, is_long

_GUTTER = 5
MOST_COLOURED = 400
"""Lines: beyond it a diff is drawn in plain ink, so that ten thousand lines appear at once."""


def draw_diff(block: DiffBlock, width: int, palette: Palette) -> list[Strip]:
    return [strip for strip, _ in hunk_rows(block, width, palette)]


def has_room_for_two(width: int, least: int) -> bool:
    """Whether each of two columns would have so many for code."""
    return DiffLook(width, Marking(UNICODE), _GUTTER, is_split=True).room >= least


def hunk_rows(
    block: DiffBlock, width: int, palette: Palette, *, is_split: bool = False, wraps: bool = True
) -> list[tuple[Strip, str]]:
    """Rows with the hunk that each belongs to, none for what is around them."""
    files = parse_unified(block.diff, block.path)
    is_coloured = block.diff.count("\n") <= MOST_COLOURED
    has_ends = any(file.mixes_line_ends for file in files)
    marking = Marking(palette.glyphs, line_ends=has_ends, is_whole=palette.is_whole)
    look = DiffLook(width, marking, _GUTTER, is_split=is_split, wraps=wraps)
    rows: list[tuple[Strip, str]] = []
    for file in files:
        painter = Painter(look.for_file(file, has_ends=has_ends), diff_inks(palette))
        if len(files) > 1:
            rows.append((plain_strip(safe_line(file_words(file)), width, palette.strong), ""))
        rows += _draw(file, painter, palette, is_coloured=is_coloured)
    return rows


def _draw(
    file: Comparison, painter: Painter, palette: Palette, *, is_coloured: bool
) -> Iterator[tuple[Strip, str]]:
    width, more = painter.look.width, palette.glyphs.more
    colours = all_colours(file, palette) if is_coloured else no_colours
    notes = [f"{'':>{_GUTTER}} {safe_text(note)}" for note in file.notes]
    for row in plain_rows(notes, width, palette.dim, more, is_whole=palette.is_whole):
        yield row, ""
    for piece in laid_out(file, None, is_split=painter.look.is_split):
        if isinstance(piece.part, Gap):
            words = f"{more:>{_GUTTER}} {safe_line(piece.part.heading)}".rstrip()
            yield plain_strip(words, width, palette.dim), ""
        else:
            is_paired = is_coloured or painter.look.is_split
            lines = piece.rows() if is_paired else piece.unpaired_rows()
            for row in painter.strips(lines, colours):
                yield row, piece.hunk


class DiffBlockView(DrawnWhole):
    """Two columns where there is room for them, unless the person wants it otherwise."""

    def __init__(self, block: DiffBlock, *, glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(glyphs=glyphs, id=id)
        self.block = block
        self.wraps = True
        self._is_split = False
        self._wanted_split: bool | None = None
        self._is_long = is_long(block.diff)

    @property
    def is_long(self) -> bool:
        return self._is_long

    def turn_layout(self) -> None:
        self._wanted_split = not self._is_split
        self.forget()

    def turn_wrap(self) -> None:
        self.wraps = not self.wraps
        self.forget()

    def draw(self, width: int, palette: Palette) -> list[Strip]:
        return [strip for strip, _ in self.hunk_rows(width, palette)]

    def hunk_rows(self, width: int, palette: Palette) -> list[tuple[Strip, str]]:
        least = SPLIT_ROOM if self._wanted_split is None else LEAST_ROOM
        self._is_split = self._wanted_split is not False and has_room_for_two(width, least)
        # A person who has to decide sees every character.
        whole = replace(palette, is_whole=True)
        return hunk_rows(self.block, width, whole, is_split=self._is_split, wraps=self.wraps)


_EDGE = 2
"""A column for the mark, and one for what is refused."""


@lru_cache(8)  # a dialog asks several times, and ten thousand lines take a while to be read
def hunk_ids(block: DiffBlock) -> tuple[str, ...]:
    """All hunks from top to bottom; by their place here a reply names them."""
    return tuple(hunk.id for file in parse_unified(block.diff, block.path) for hunk in file.hunks)


class HunkedBlock(DiffBlockView):
    """Shows all of a diff, with a mark that goes from hunk to hunk."""

    def __init__(self, block: DiffBlock, *, glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(block, glyphs=glyphs, id=id)
        self.hunks = hunk_ids(block)
        self.current = 0
        self.refused: frozenset[int] = frozenset()
        self._of_rows: list[str] = []
        self._first_rows: dict[str, int] = {}

    @property
    def current_row(self) -> int:
        """Where the marked hunk begins."""
        return self._first_rows.get(self.hunks[self.current], 0)

    def move(self, step: int) -> None:
        self.current = max(0, min(self.current + step, len(self.hunks) - 1))
        self.refresh()

    def turn_over(self) -> None:
        """Refuse the marked hunk, or allow it again."""
        self.refused ^= {self.current}
        self.refresh()

    def draw(self, width: int, palette: Palette) -> list[Strip]:
        rows = self.hunk_rows(width - _EDGE, palette)
        blank = Strip([Segment(" " * _EDGE, palette.base)], _EDGE)
        self._of_rows = [hunk for _, hunk in rows]
        self._first_rows = {hunk: row for row, hunk in reversed(list(enumerate(self._of_rows)))}
        return [Strip.join([blank, strip]) for strip, _ in rows]

    def rows(self, first: int, last: int) -> list[Strip]:
        """Only what is in view gets its marks: a key moves them, and there may be ten thousand rows."""
        refused = {self.hunks[place] for place in self.refused}
        strips = super().rows(first, last)
        hunks = self._of_rows[first:last]
        marked = [
            Strip.join([self._edge(hunk, hunk in refused, self.palette), strip.crop(_EDGE)])
            for strip, hunk in zip(strips, hunks, strict=False)
        ]
        return marked + strips[len(marked) :]

    def _edge(self, hunk: str, is_refused: bool, palette: Palette) -> Strip:
        bar = palette.glyphs.user if hunk == self.hunks[self.current] else " "
        sign = palette.glyphs.failed if is_refused else " "
        return Strip([Segment(bar, palette.user), Segment(sign, palette.failed)], _EDGE)
