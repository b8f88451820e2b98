"""One display block as a widget: a preview in a dialog."""

from dataclasses import replace

from textual.geometry import Size
from textual.strip import Strip

from coder_tui.protocol.display import DisplayBlock
from coder_tui.ui.blocks import draw_block
from coder_tui.ui.drawing.glyphs import UNICODE, Glyphs
from coder_tui.ui.drawing.palette import Palette
from coder_tui.ui.drawing.strips import plain_strip
from coder_tui.ui.widgets.drawn_lines import NARROWEST_DRAWING, DrawnLines


class BlockView(DrawnLines):
    """Shows all of a block; put it into a scrolling container where it may not fit."""

    def __init__(self, block: DisplayBlock, *, glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(glyphs=glyphs, id=id)
        self._block = block
        self._drawn: list[Strip] = []
        self._look: tuple[int, Palette] | None = None

    def rows(self, first: int, last: int) -> list[Strip]:
        width = max(NARROWEST_DRAWING, self.size.width)
        drawn = self._draw(width)[first:last]
        blank = plain_strip("", width, self.palette.base)
        return drawn + [blank] * (last - first - len(drawn))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._draw(max(NARROWEST_DRAWING, width)))

    def _draw(self, width: int) -> list[Strip]:
        if self._look != (width, self.palette):
            self._look = (width, self.palette)
            self._drawn = draw_block(self._block, width, replace(self.palette, is_whole=True))
        return self._drawn
