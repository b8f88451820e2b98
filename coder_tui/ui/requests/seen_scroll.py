"""A part of a dialog that scrolls and knows whether its end has been before the person's eyes."""

from textual import on
from textual.containers import VerticalScroll
from textual.errors import NoWidget
from textual.message import Message

from coder_tui.ui.draw.widget import NARROWEST_DRAWING, DrawnWhole


class SeenScroll(VerticalScroll, can_focus=False):
    """What counts is where the compositor put the last child, not what a layout in progress would allow."""

    DEFAULT_CSS = """
    SeenScroll {
        height: auto; background: $surface; padding: 0 1; scrollbar-size-vertical: 1;
    }
    """

    class Moved(Message):
        """Another part may be in view; once it is painted, somebody should `look`."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.is_end_seen = False

    def on_mount(self) -> None:
        self.watch(self, "scroll_y", self._moved, init=False)

    def on_resize(self) -> None:
        self._moved()

    @on(DrawnWhole.Drawn)
    def _drawn(self) -> None:
        self.call_after_refresh(self._moved)

    @property
    def has_more(self) -> bool:
        """Whether something lies below what is in view."""
        return self.scroll_y < self.max_scroll_y

    def look(self) -> None:
        """Take note of what is painted; for a moment at which the person can have read it."""
        self.is_end_seen = self.is_end_seen or self._is_end_painted()

    def turn(self, key: str) -> bool:
        """Scroll by a key; False when the key does not scroll."""
        match key:
            case "up":
                self.scroll_up(animate=False)
            case "down":
                self.scroll_down(animate=False)
            case "pageup":
                self.scroll_page_up(animate=False)
            case "pagedown":
                self.scroll_page_down(animate=False)
            case "home":
                self.scroll_home(animate=False)
            case "end":
                self.scroll_end(animate=False)
            case _:
                return False
        return True

    def _moved(self) -> None:
        self.post_message(self.Moved())

    def _is_end_painted(self) -> bool:
        shown = self.displayed_children
        if not self.display or not shown:
            return False
        if any(isinstance(child, DrawnWhole) and not child.is_drawn for child in shown):
            return False
        try:
            place = self.screen.find_widget(shown[-1])
        except NoWidget:
            return False
        is_wide_enough = place.region.width >= NARROWEST_DRAWING
        return (
            is_wide_enough
            and place.visible_region.height > 0
            and (place.visible_region.bottom == place.region.bottom)
        )
