"""A list of one-line rows with a mark that keys move, drawn by the row: ten thousand cost what ten do."""

from abc import abstractmethod
from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from coder_tui.ui.draw.glyphs import UNICODE, Glyphs
from coder_tui.ui.draw.strips import cut_text, plain_strip, to_strip
from coder_tui.ui.draw.widget import DrawnLines
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.textual_internals import ScrollsAtOnce

_EDGE = 1
"""The column of the mark."""
_MARGIN = 1
"""Kept free at the right."""


class RowList(ScrollsAtOnce, ScrollView, DrawnLines, can_focus=True):
    """Rows that are no items, such as headings, are passed over by the mark."""

    DEFAULT_CSS = """
    RowList { height: auto; width: 1fr; overflow: hidden auto; scrollbar-size-vertical: 1; }
    """
    BINDINGS = bindings(Context.LIST)

    class Moved(Message):
        """The mark is on another item, or the items are others."""

    class Chosen(Message):
        """Enter was pressed on the marked item, or it was clicked again."""

    def __init__(self, *, glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        # Past the scrolling container, whose own arguments nobody gives.
        DrawnLines.__init__(self, glyphs=glyphs, id=id)
        self.count = 0
        self._items: Sequence[int] = ()
        self.cursor = 0

    @abstractmethod
    def draw(self, row: int, width: int) -> Text:
        """One row; what is too long is cut."""

    def set_rows(self, count: int, items: Sequence[int], cursor: int) -> None:
        """`items` are the rows that can be marked, `cursor` the one of them that is."""
        self.count, self._items = count, items
        self.cursor = max(0, min(cursor, len(items) - 1))
        self.virtual_size = Size(0, count)
        self.refresh(layout=True)
        self.call_after_refresh(self.bring)

    def move_to(self, item: int) -> None:
        cursor = max(0, min(item, len(self._items) - 1))
        if cursor != self.cursor:
            self.cursor = cursor
            self.refresh()
            self.bring()
            self.post_message(self.Moved())

    def bring(self) -> None:
        """Have the marked row in view; before the first item also what heads it."""
        if not self._items:
            return
        row, top, height = self._items[self.cursor], round(self.scroll_y), max(1, self.size.height)
        if row < top or self.cursor == 0:
            self.scroll_to(y=0 if self.cursor == 0 else row, animate=False)
        elif row >= top + height:
            self.scroll_to(y=row - height + 1, animate=False)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self.count

    def rows(self, first: int, last: int) -> list[Strip]:
        return [self._row(row) for row in range(first, last)]

    def render_line(self, y: int) -> Strip:
        row = y + round(self.scroll_y)
        return self._row(row).apply_offsets(0, row)

    def render_lines(self, crop: Region) -> list[Strip]:
        return DrawnLines.render_lines(self, crop.translate((0, round(self.scroll_y))))

    def _row(self, row: int) -> Strip:
        palette, width = self.palette, self.scrollable_content_region.width
        if not 0 <= row < self.count or width <= _EDGE:
            return plain_strip("", max(0, width), palette.base)
        room = max(0, width - _EDGE - _MARGIN)
        text = self.draw(row, room)
        cut_text(text, room, palette.glyphs.more)
        is_marked = bool(self._items) and self._items[self.cursor] == row
        glow = palette.cursor if is_marked and self.has_focus else Style.null()
        bar = Segment(palette.glyphs.user if is_marked else " ", palette.user + glow)
        strip = to_strip(text, width - _EDGE, palette.base)
        return Strip(
            [bar, *(Segment(each.text, (each.style or palette.base) + glow) for each in strip)], width
        )

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        row = event.y + round(self.scroll_y)
        if row not in self._items:
            return
        item = list(self._items).index(row)
        if item == self.cursor:
            self.post_message(self.Chosen())
        self.move_to(item)

    def action_move(self, step: int) -> None:
        self.move_to(self.cursor + step)

    def action_end(self, way: int) -> None:
        self.move_to(0 if way < 0 else len(self._items) - 1)

    def action_page(self, way: int) -> None:
        self.move_to(self.cursor + way * max(1, self.size.height - 1))

    def action_choose(self) -> None:
        if self._items:
            self.post_message(self.Chosen())
