"""One display block as a widget: a preview in a dialog."""

from dataclasses import replace

from textual.strip import Strip

from coder_tui.protocol.display import DisplayBlock
from coder_tui.ui.blocks import draw_block
from coder_tui.ui.drawing.glyphs import UNICODE, Glyphs
from coder_tui.ui.drawing.palette import Palette
from coder_tui.ui.widgets.drawn_whole import DrawnWhole, is_long
from coder_tui.ui.widgets.request_words import raw_text


class BlockView(DrawnWhole):
    """Shows all of a block."""

    def __init__(self, block: DisplayBlock, *, glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(glyphs=glyphs, id=id)
        self._block = block
        self._is_long = is_long(raw_text(block))

    @property
    def is_long(self) -> bool:
        return self._is_long

    def draw(self, width: int, palette: Palette) -> list[Strip]:
        return draw_block(self._block, width, replace(palette, is_whole=True))
