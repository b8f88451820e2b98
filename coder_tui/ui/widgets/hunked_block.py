"""A change before it is made, hunk by hunk: single ones can be refused."""

from functools import lru_cache

from rich.segment import Segment
from textual.strip import Strip

from coder_tui.diffs.unified import parse_unified
from coder_tui.protocol.display import DiffBlock
from coder_tui.ui.drawing.glyphs import UNICODE, Glyphs
from coder_tui.ui.drawing.palette import Palette
from coder_tui.ui.widgets.diff_block import DiffBlockView

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
