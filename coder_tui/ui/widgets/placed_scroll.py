"""Moving a following view to a row or an entry at once, before the next layout."""

from coder_tui.ui.drawing.row_index import Place
from coder_tui.ui.widgets.following_scroll import FollowingScroll


class PlacedScroll(FollowingScroll):
    """Keys come faster than layouts: each move reckons from where the last one went."""

    def stand_at(self, row: int) -> None:
        """Let this row be the first in view."""
        rest = sum(child.size.height for child in self.children if child is not self.history)
        end = max(0, self.history.index.total + rest - self.size.height)
        if row >= end:
            self.follow()
            self.place_scroll(end)
            return
        self._is_following = False
        self.history.stand_at(max(0, row))
        if self.history.settle(self.size.height) and (place := self.history.place):
            row = self.history.index.row_of(place)
        self.place_scroll(max(0, row))
        self.history.refresh(layout=True)

    def reveal(self, index: int, offset: int) -> None:
        """Bring a row of an entry into view; from afar, with some rows of what stands above."""
        self._settle_at(index)
        row, top, height = self.history.index.start(index) + offset, round(self.scroll_y), self.size.height
        if not top <= row < top + height:
            self.stand_at(row - height // 3)

    def bring(self, index: int, *, at_top: bool = False) -> None:
        """Bring an entry into view: all of it, or its beginning where it is longer than the view."""
        self._settle_at(index)
        first = self.history.index.start(index)
        last = first + self.history.index.height(index) - 1
        top, height = round(self.scroll_y), self.size.height
        if at_top or first < top or last - first >= height:
            self.stand_at(first)
        elif last >= top + height:
            self.stand_at(last - height + 1)

    def _settle_at(self, index: int) -> None:
        """Make the heights there exact, and leave the view at what it shows."""
        place = self.history.place
        self.history.place = Place(index, 0)
        self.history.settle(self.size.height)
        self.history.place = place
        if place is not None:
            self.place_scroll(self.history.index.row_of(place))
