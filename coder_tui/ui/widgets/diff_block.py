"""A whole diff in a dialog: in one column or two, with long lines wrapped or cut."""

from dataclasses import replace

from textual.strip import Strip

from coder_tui.protocol.display import DiffBlock
from coder_tui.ui.blocks.diff import has_room_for_two, hunk_rows
from coder_tui.ui.drawing.glyphs import UNICODE, Glyphs
from coder_tui.ui.drawing.palette import Palette
from coder_tui.ui.widgets.diff_surface import LEAST_ROOM, SPLIT_ROOM
from coder_tui.ui.widgets.drawn_whole import DrawnWhole, is_long


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
