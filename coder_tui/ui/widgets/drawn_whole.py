"""The base of widgets that are drawn at once, to their last row."""

from abc import abstractmethod

from textual.geometry import Size
from textual.strip import Strip

from coder_tui.ui.drawing.palette import Palette
from coder_tui.ui.widgets.drawn_lines import NARROWEST_DRAWING, DrawnLines


class DrawnWhole(DrawnLines):
    """Put it into a scrolling container where it may not fit."""

    _drawn: tuple[Strip, ...] = ()
    _look: tuple[int, Palette] | None = None

    @abstractmethod
    def draw(self, width: int, palette: Palette) -> list[Strip]:
        """All rows, each of exactly this width; drawn anew when the width or the theme changes."""

    def forget(self) -> None:
        """What `draw` shows has changed."""
        self._look = None
        self.refresh(layout=True)

    def rows(self, first: int, last: int) -> list[Strip]:
        width = max(NARROWEST_DRAWING, self.size.width)
        drawn = list(self._rows(width)[first:last])
        return drawn + [Strip.blank(width, self.palette.base)] * (last - first - len(drawn))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._rows(max(NARROWEST_DRAWING, width)))

    def _rows(self, width: int) -> tuple[Strip, ...]:
        if self._look != (width, self.palette):
            self._look = (width, self.palette)
            self._drawn = tuple(self.draw(width, self.palette))
        return self._drawn
