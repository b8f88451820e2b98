"""The base of widgets that are drawn to their last row: at once, or aside where that would take long."""

import asyncio
from abc import abstractmethod

from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from coder_tui.ui.drawing.palette import Palette
from coder_tui.ui.drawing.strips import plain_strip
from coder_tui.ui.widgets.drawn_lines import NARROWEST_DRAWING, DrawnLines

LONG = 20_000
"""Characters: drawing more of them in one go would hold up the screen."""
MANY_LINES = 300
_FREED = 200
_DRAWING = "drawing it..."


class DrawnWhole(DrawnLines):
    """Put it into a scrolling container where it may not fit."""

    _drawn: tuple[Strip, ...] = ()
    _look: tuple[int, Palette] | None = None
    is_drawn = True
    """False while a part is missing, or still has the width or the theme of before."""

    class Drawn(Message):
        """What was drawn aside is all there."""

    @property
    def is_long(self) -> bool:
        """Whether it has to be drawn in a thread; `draw` is then called there."""
        return False

    @abstractmethod
    def draw(self, width: int, palette: Palette) -> list[Strip]:
        """All rows, each of exactly this width; drawn anew when the width or the theme changes."""

    def forget(self) -> None:
        """What `draw` shows has changed."""
        self._look = None
        self.refresh(layout=True)

    def rows(self, first: int, last: int) -> list[Strip]:
        width = max(NARROWEST_DRAWING, self.size.width)
        drawn = [_fitted(strip, width) for strip in self._rows(width)[first:last]]
        return drawn + [Strip.blank(width, self.palette.base)] * (last - first - len(drawn))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._rows(max(NARROWEST_DRAWING, width)))

    def _rows(self, width: int) -> tuple[Strip, ...]:
        look = width, self.palette
        if self._look != look:
            self._look = look
            if self.is_long:
                self._begin(*look)
            else:
                self._drawn = tuple(self.draw(*look))
        return self._drawn

    def _begin(self, width: int, palette: Palette) -> None:
        """Rows of another width stay meanwhile: a scrollbar that comes and goes would never let it end."""
        self.is_drawn = False
        self._drawn = self._drawn or (plain_strip(_DRAWING, width, palette.dim),)
        self.run_worker(self._draw_aside(width, palette), group="draw", exclusive=True)

    async def _draw_aside(self, width: int, palette: Palette) -> None:
        drawn = tuple(await asyncio.to_thread(self.draw, width, palette))
        if self._look == (width, palette):
            drawn, self._drawn, self.is_drawn = self._drawn, drawn, True
            self.refresh(layout=True)
            self.post_message(self.Drawn())
        rows = list(drawn)
        del drawn
        await asyncio.to_thread(_let_go, rows)


def is_long(text: str) -> bool:
    return len(text) > LONG or text.count("\n") > MANY_LINES


def _let_go(rows: list[Strip]) -> None:
    """Little by little: freeing a million pieces at once would hold up the screen, in any thread."""
    while rows:
        del rows[-_FREED:]


def _fitted(strip: Strip, width: int) -> Strip:
    return strip if strip.cell_length == width else strip.adjust_cell_length(width)
