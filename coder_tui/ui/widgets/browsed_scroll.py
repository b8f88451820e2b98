"""Moving through the blocks of the transcript by key, and folding the one that is marked."""

from textual import events

from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.widgets.following_scroll import FollowingScroll


class BrowsedScroll(FollowingScroll):
    """The mark is there while it has the focus."""

    BINDINGS = bindings(Context.TRANSCRIPT)

    def on_focus(self, event: events.Focus) -> None:
        self._show_cursor()

    def on_blur(self, event: events.Blur) -> None:
        self.history.move_cursor(None)

    def action_fold(self) -> None:
        self._show_cursor()
        if self.history.cursor is not None:
            self.history.toggle(self.history.cursor)

    def action_move(self, step: int) -> None:
        """To the next or previous block, brought into view."""
        count = len(self.history.index)
        if not count:
            return
        current = count if self.history.cursor is None else self.history.cursor
        index = max(0, min(count - 1, current + step))
        self.history.move_cursor(index)
        first = self.history.index.start(index)
        last = first + self.history.index.height(index) - 1
        if first < self.scroll_y or last - first >= self.size.height:
            self.scroll_to(y=first)
        elif last >= self.scroll_y + self.size.height:
            self.scroll_to(y=last - self.size.height + 1)

    def _show_cursor(self) -> None:
        """On the last block in view, unless it is somewhere already."""
        if self.history.cursor is None:
            last_row = round(self.scroll_y) + self.size.height - 1
            self.history.move_cursor(self.history.index.index_at(last_row))
