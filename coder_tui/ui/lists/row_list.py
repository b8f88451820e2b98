"""Lists of one-line rows with a mark that keys move. Only visible rows are drawn.

`FuzzyList` has rows in columns, filtered by typed letters.
"""

from abc import abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from coder_tui.text.fuzzy import FuzzyIndex
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.draw.strips import cut, cut_text, plain_strip, to_strip
from coder_tui.ui.draw.widget import DrawnLines
from coder_tui.ui.glyphs import UNICODE, Glyphs
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.textual_internals import ScrollsAtOnce

_EDGE = 1
"""The column of the mark."""
_MARGIN = 1
"""Columns that stay free at the right."""


class RowList(ScrollsAtOnce, ScrollView, DrawnLines, can_focus=True):
    """The mark skips rows that are not items, such as headings."""

    DEFAULT_CSS = """
    RowList { height: auto; width: 1fr; overflow: hidden auto; scrollbar-size-vertical: 1; }
    """
    BINDINGS = bindings(Context.LIST)

    class Moved(Message):
        """The mark is on another item, or the items have changed."""

    class Chosen(Message):
        """Enter was pressed on the marked item, or it was clicked again."""

    def __init__(self, *, glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        # Not the scrolling container's constructor, which takes other arguments.
        DrawnLines.__init__(self, glyphs=glyphs, id=id)
        self.count = 0
        self._items: Sequence[int] = ()
        self.cursor = 0

    @abstractmethod
    def draw(self, row: int, width: int) -> Text:
        """Draw one row; the caller cuts it off at the width."""

    def set_rows(self, count: int, items: Sequence[int], cursor: int) -> None:
        """Set the rows; `items` are those that can be marked, `cursor` the marked one of them."""
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
        """Scroll the marked row into view, for the first item also its heading."""
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


_GAP = 2
_LEAST_LABEL = 24
"""Cells of the label; the columns after it are dropped before it gets narrower."""
_LEAST_DETAIL = 12
_FOUND = Style(bold=True, underline=True)


@dataclass(frozen=True, slots=True)
class Item:
    """`key` identifies the item; `lead` and `details` are columns, of which the last is dropped last.

    `note` says more about the marked row, `also` is searched but not shown.
    """

    key: str
    label: str
    lead: str = ""
    details: tuple[str, ...] = ()
    note: str = ""
    group: str = ""
    also: str = ""
    is_ready: bool = True


@dataclass(frozen=True, slots=True)
class _Row:
    """An item with the matched characters of its label, or a heading."""

    item: Item | None
    found: tuple[int, ...] = ()
    heading: str = ""


class FuzzyList(RowList):
    """Filtered rows are sorted by how well they match, without headings."""

    DEFAULT_CSS = "FuzzyList { height: 1fr; background: $surface; }"

    def __init__(self, choose: Callable[[], None], *, glyphs: Glyphs = UNICODE) -> None:
        """Enter calls `choose` at once: the next key may be meant for what opens then."""
        super().__init__(glyphs=glyphs)
        self._choose = choose
        self._all: tuple[Item, ...] = ()
        self._index = FuzzyIndex(())
        self._rows: list[_Row] = []
        self._marks: list[int] = []
        self._query = ""
        self._empty = ""
        self.keeps_order = False
        """Whether matches keep the order in which they were given."""

    @property
    def marked(self) -> Item | None:
        return self._rows[self._marks[self.cursor]].item if self._marks else None

    @property
    def counted(self) -> str:
        """The number of items, and of those that match."""
        shown, every = len(self._marks), len(self._all)
        return f"{every}" if shown == every else f"{shown} of {every}"

    @property
    def rows_unfiltered(self) -> int:
        return len(_grouped(self._all))

    def show(
        self, items: Sequence[Item], marked: str | None = None, *, empty: str = "Nothing to show."
    ) -> None:
        """Show items; `marked` is the key of the item to mark, by default the mark stays."""
        wanted = marked if marked is not None else (self.marked.key if self.marked else None)
        self._all, self._empty = tuple(items), empty
        self._index = FuzzyIndex([f"{safe_line(item.label)} {item.also}" for item in self._all])
        self._fill(wanted)

    def filter(self, query: str) -> None:
        if query != self._query:
            self._query = query
            self._fill(None)

    def action_page(self, way: int) -> None:
        """Move by a page, counting headings, so that no row is skipped."""
        if self._marks:
            row = self._marks[self.cursor] + way * max(1, self.size.height - 1)
            at = bisect_right(self._marks, row) - 1 if way > 0 else bisect_left(self._marks, row)
            self.move_to(max(at, self.cursor + 1) if way > 0 else min(at, self.cursor - 1))

    def action_page_up(self) -> None:
        """Move the mark too, unlike the scrolling container."""
        self.action_page(-1)

    def action_page_down(self) -> None:
        self.action_page(1)

    def action_choose(self) -> None:
        self._choose()

    def _fill(self, wanted: str | None) -> None:
        if self._query.strip():
            found = self._index.search(self._query, len(self._all))
            if self.keeps_order:
                found.sort(key=lambda match: match.index)
            self._rows = [_Row(self._all[match.index], match.positions) for match in found]
        else:
            self._rows = _grouped(self._all)
        self._marks = [at for at, row in enumerate(self._rows) if row.item is not None]
        keys = [item.key for row in self._rows if (item := row.item) is not None]
        self.set_rows(max(1, len(self._rows)), self._marks, keys.index(wanted) if wanted in keys else 0)
        self.post_message(self.Moved())

    def draw(self, row: int, width: int) -> Text:
        if row >= len(self._rows):
            words = f"Nothing matches {safe_line(self._query)}." if self._all else self._empty
            return Text(f" {words}", style=self.palette.dim)
        shown = self._rows[row]
        if shown.item is None:
            return Text(f" {shown.heading}" if shown.heading else "", style=self.palette.heading)
        return self._drawn(shown.item, shown.found, width)

    def _drawn(self, item: Item, found: tuple[int, ...], width: int) -> Text:
        palette, more = self.palette, self.palette.glyphs.more
        lead = max((cell_len(each.lead) for each in self._all), default=0)
        # A label without details may use the whole row.
        columns = self._columns(width - (lead + _GAP if lead else 0) - 1) if any(item.details) else []
        behind = sum(each + _GAP for each in columns)
        room = max(1, width - 1 - behind - (lead + _GAP if lead else 0))
        label = cut(safe_line(item.label), room, more)
        text = Text(" ", style=palette.base if item.is_ready else palette.dim)
        if lead:
            text.append(_right(item.lead, lead) + " " * _GAP, palette.dim)
        start = len(text)
        text.append(set_cell_size(label, room))
        for at in found:
            if at < len(label):
                text.stylize(_FOUND, start + at, start + at + 1)
        details = item.details[len(item.details) - len(columns) :] if columns else ()
        for at, (detail, size) in enumerate(zip(details, columns, strict=True)):
            is_last = at == len(columns) - 1
            shown = cut(detail, size, more)
            padded = set_cell_size(shown, size) if is_last else _right(shown, size)
            text.append(" " * _GAP + padded, palette.dim)
        return text

    def _columns(self, room: int) -> list[int]:
        """Return the widths of the columns after the label that fit; the first ones are dropped first."""
        count = max((len(item.details) for item in self._all), default=0)
        sizes = [
            max(cell_len(item.details[at]) for item in self._all if at < len(item.details))
            for at in range(count)
        ]
        longest = max((cell_len(item.label) for item in self._all), default=0)
        widest = max(_LEAST_DETAIL, room // 3, room - longest - _GAP)
        sizes = [min(size, widest) for size in sizes]
        label = min(_LEAST_LABEL, longest)
        while sizes and sum(size + _GAP for size in sizes) + label > room:
            sizes.pop(0)
        return sizes


def _grouped(items: Sequence[Item]) -> list[_Row]:
    rows: list[_Row] = []
    group = ""
    for item in items:
        if item.group != group:
            group = item.group
            rows += [_Row(None)] * bool(rows) + [_Row(None, heading=group)]
        rows.append(_Row(item))
    return rows


def _right(text: str, width: int) -> str:
    return " " * max(0, width - cell_len(text)) + text
