"""A scrolling view that follows its end until the reader goes up, and then stays where the reader is."""

from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.layout import DockArrangeResult
from textual.message import Message

from coder_tui.ui.textual_internals import (
    LaysOutOnce,
    ScrollsAtOnce,
    forget_arrangements,
    placed_rows,
    without_grid,
)
from coder_tui.ui.widgets.history import History


class FollowingScroll(LaysOutOnce, ScrollsAtOnce, VerticalScroll):
    """Its first child is a history; the reader's place is an entry of it, so rows may come and go above."""

    class NewBelow(Message, namespace="transcript"):
        """`count` blocks came while the reader looked further up; 0 when the view follows again."""

        def __init__(self, count: int) -> None:
            super().__init__()
            self.count = count

    def __init__(self, history: History, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.history = history
        self._is_following = True
        self._new_below = 0

    @property
    def is_following(self) -> bool:
        return self._is_following

    def follow(self) -> None:
        """Go to the end and stay there."""
        self._start_following()
        self.history.refresh(layout=True)

    def note_new(self) -> None:
        """A block was added at the end."""
        if not self._is_following:
            self._new_below += 1
            self.post_message(self.NewBelow(self._new_below))

    # Within a layout the rows are known and nothing is painted yet: the one moment to move the view unseen.
    def arrange(self, size: Size, optimal: bool = False) -> DockArrangeResult:
        if not self.history.is_wrapped_at(size.width):
            forget_arrangements(self)
        result = without_grid(super().arrange(size, optimal))
        end = max(0, placed_rows(result.placements) - size.height)
        place = self.history.place
        row = end if place is None else min(end, self.history.index.row_of(place))
        if row != self.scroll_y:
            self.place_scroll(row)
        return result

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        row = round(new_value)
        if row >= self.max_scroll_y:
            self._start_following()
            return
        self._is_following = False
        self.history.stand_at(row)
        place = self.history.place
        if place is not None and self.history.settle(self.size.height):
            self.place_scroll(self.history.index.row_of(place))
            self.history.refresh(layout=True)

    def _start_following(self) -> None:
        self._is_following = True
        self.history.stand_at(None)
        if self._new_below:
            self._new_below = 0
            self.post_message(self.NewBelow(0))
