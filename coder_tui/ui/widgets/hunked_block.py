"""A change before it is made, hunk by hunk: single ones can be refused."""

from dataclasses import replace

from rich.segment import Segment
from textual.strip import Strip

from coder_tui.diffs.unified import parse_unified
from coder_tui.protocol.display import DiffBlock
from coder_tui.ui.blocks.diff import hunk_rows
from coder_tui.ui.drawing.glyphs import UNICODE, Glyphs
from coder_tui.ui.drawing.palette import Palette
from coder_tui.ui.widgets.drawn_whole import DrawnWhole

_EDGE = 2
"""A column for the mark, and one for what is refused."""


def hunk_ids(block: DiffBlock) -> tuple[str, ...]:
    """All hunks from top to bottom; by their place here a reply names them."""
    return tuple(hunk.id for file in parse_unified(block.diff, block.path) for hunk in file.hunks)


class HunkedBlock(DrawnWhole):
    """Shows all of a diff, with a mark that goes from hunk to hunk."""

    def __init__(self, block: DiffBlock, *, glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(glyphs=glyphs, id=id)
        self._block = block
        self.hunks = hunk_ids(block)
        self.current = 0
        self.refused: frozenset[int] = frozenset()
        self._rows_for: tuple[int, Palette] | None = None
        self._hunk_rows: list[tuple[Strip, str]] = []
        self._first_rows: dict[str, int] = {}

    @property
    def current_row(self) -> int:
        """Where the marked hunk begins."""
        return self._first_rows.get(self.hunks[self.current], 0)

    def move(self, step: int) -> None:
        self.current = max(0, min(self.current + step, len(self.hunks) - 1))
        self.forget()

    def turn_over(self) -> None:
        """Refuse the marked hunk, or allow it again."""
        self.refused ^= {self.current}
        self.forget()

    def draw(self, width: int, palette: Palette) -> list[Strip]:
        if self._rows_for != (width, palette):
            self._rows_for = (width, palette)
            # A person who has to decide sees every character.
            self._hunk_rows = hunk_rows(self._block, width - _EDGE, replace(palette, is_whole=True))
            self._first_rows = {}
            for number, (_, hunk) in enumerate(self._hunk_rows):
                self._first_rows.setdefault(hunk, number)
        refused = {self.hunks[place] for place in self.refused}
        return [
            Strip.join([self._edge(hunk, hunk in refused, palette), strip]) for strip, hunk in self._hunk_rows
        ]

    def _edge(self, hunk: str, is_refused: bool, palette: Palette) -> Strip:
        bar = palette.glyphs.user if hunk == self.hunks[self.current] else " "
        sign = palette.glyphs.failed if is_refused else " "
        return Strip([Segment(bar, palette.user), Segment(sign, palette.failed)], _EDGE)
