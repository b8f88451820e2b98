"""Draw a unified diff in full: in the transcript, and in dialogs that let the user refuse single hunks."""

from collections.abc import Iterator
from dataclasses import replace

from rich.segment import Segment
from textual.strip import Strip

from coder_tui.diffs.rows import lay_out
from coder_tui.diffs.unified import parse_unified
from coder_tui.protocol.comparison import Comparison, Gap
from coder_tui.protocol.display import DiffBlock
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.ui.diff.rows import DiffLook, Painter, all_colors, no_colors
from coder_tui.ui.diff.sheet import file_words
from coder_tui.ui.diff.text import WhitespaceMarks, diff_styles
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.strips import plain_rows, plain_strip
from coder_tui.ui.draw.widget import DrawnAtOnce, is_long
from coder_tui.ui.glyphs import UNICODE, Glyphs

_GUTTER = 5
MOST_COLORED = 400
"""Lines: a longer diff is drawn without colors, so that ten thousand lines appear at once."""


def draw_diff(block: DiffBlock, width: int, palette: Palette) -> list[Strip]:
    files = parse_unified(block.diff, block.path)
    return [strip for strip, _ in hunk_rows(files, width, palette, is_colored=_is_colored(block))]


def _is_colored(block: DiffBlock) -> bool:
    return block.diff.count("\n") <= MOST_COLORED


def hunk_rows(
    files: tuple[Comparison, ...],
    width: int,
    palette: Palette,
    *,
    is_colored: bool,
    is_split: bool = False,
    wraps: bool = True,
) -> list[tuple[Strip, str]]:
    """Return rows with the hunk that each belongs to, empty for rows around hunks."""
    has_ends = any(file.mixes_line_ends for file in files)
    marking = WhitespaceMarks(palette.glyphs, line_ends=has_ends, is_whole=palette.is_whole)
    look = DiffLook(width, marking, _GUTTER, is_split=is_split, wraps=wraps)
    rows: list[tuple[Strip, str]] = []
    for file in files:
        painter = Painter(look.for_file(file, has_ends=has_ends), diff_styles(palette))
        if len(files) > 1:
            rows.append((plain_strip(safe_line(file_words(file)), width, palette.strong), ""))
        rows += _draw(file, painter, palette, is_colored=is_colored)
    return rows


def _draw(
    file: Comparison, painter: Painter, palette: Palette, *, is_colored: bool
) -> Iterator[tuple[Strip, str]]:
    width, more = painter.look.width, palette.glyphs.more
    colors = all_colors(file, palette) if is_colored else no_colors
    notes = [f"{'':>{_GUTTER}} {safe_text(note)}" for note in file.notes]
    for row in plain_rows(notes, width, palette.dim, more, is_whole=palette.is_whole):
        yield row, ""
    for piece in lay_out(file, None, is_split=painter.look.is_split):
        if isinstance(piece.part, Gap):
            words = f"{more:>{_GUTTER}} {safe_line(piece.part.heading)}".rstrip()
            yield plain_strip(words, width, palette.dim), ""
        else:
            is_paired = is_colored or painter.look.is_split
            lines = piece.rows() if is_paired else piece.unpaired_rows()
            for row in painter.strips(lines, colors):
                yield row, piece.hunk


class DiffBlockView(DrawnAtOnce):
    """Shows a diff in two columns if there is room, unless the user wants one column."""

    def __init__(
        self,
        block: DiffBlock,
        files: tuple[Comparison, ...] = (),
        *,
        glyphs: Glyphs = UNICODE,
        id: str | None = None,
    ) -> None:
        """`files` is the block's change as data, if it is known."""
        super().__init__(glyphs=glyphs, id=id)
        self.files = files or parse_unified(block.diff, block.path)
        self.wraps = True
        self._is_colored = _is_colored(block)
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
        look = DiffLook(width, WhitespaceMarks(palette.glyphs), _GUTTER)
        self._is_split = look.fit(width, self._wanted_split).is_split
        # A user who has to decide sees every character.
        whole = replace(palette, is_whole=True)
        return hunk_rows(
            self.files,
            width,
            whole,
            is_colored=self._is_colored,
            is_split=self._is_split,
            wraps=self.wraps,
        )


_EDGE = 2
"""A column for the mark, and one for the sign of a refused hunk."""


class HunkedBlock(DiffBlockView):
    """Shows a diff with a mark that moves from hunk to hunk."""

    def __init__(
        self,
        block: DiffBlock,
        files: tuple[Comparison, ...],
        *,
        glyphs: Glyphs = UNICODE,
        id: str | None = None,
    ) -> None:
        super().__init__(block, files, glyphs=glyphs, id=id)
        self.hunks = [hunk.id for file in files for hunk in file.hunks]
        self.current = 0
        self.refused: tuple[str, ...] = ()
        self._of_rows: list[str] = []
        self._first_rows: dict[str, int] = {}

    @property
    def current_row(self) -> int:
        """The first row of the marked hunk."""
        return self._first_rows.get(self.hunks[self.current], 0)

    def move(self, step: int) -> None:
        self.current = max(0, min(self.current + step, len(self.hunks) - 1))
        self.refresh()

    def turn_over(self) -> None:
        """Refuse the marked hunk, or allow it again."""
        turned = {*self.refused} ^ {self.hunks[self.current]}
        self.refused = tuple(hunk for hunk in self.hunks if hunk in turned)
        self.refresh()

    def draw(self, width: int, palette: Palette) -> list[Strip]:
        rows = self.hunk_rows(width - _EDGE, palette)
        blank = Strip([Segment(" " * _EDGE, palette.base)], _EDGE)
        self._of_rows = [hunk for _, hunk in rows]
        self._first_rows = {hunk: row for row, hunk in reversed(list(enumerate(self._of_rows)))}
        return [Strip.join([blank, strip]) for strip, _ in rows]

    def rows(self, first: int, last: int) -> list[Strip]:
        """Mark only the rows in view: each key moves the mark, and there may be ten thousand rows."""
        strips = super().rows(first, last)
        hunks = self._of_rows[first:last]
        marked = [
            Strip.join([self._edge(hunk, hunk in self.refused, self.palette), strip.crop(_EDGE)])
            for strip, hunk in zip(strips, hunks, strict=False)
        ]
        return marked + strips[len(marked) :]

    def _edge(self, hunk: str, is_refused: bool, palette: Palette) -> Strip:
        bar = palette.glyphs.user if hunk == self.hunks[self.current] else " "
        sign = palette.glyphs.failed if is_refused else " "
        return Strip([Segment(bar, palette.user), Segment(sign, palette.failed)], _EDGE)
