"""Draws any number of finished entries in one widget; only those near the view are rendered."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from textual import events
from textual.geometry import Offset, Region, Size
from textual.selection import Selection
from textual.strip import Strip

from coder_tui.text.safe_text import safe_text
from coder_tui.ui.draw.entries import Entry, View
from coder_tui.ui.draw.entry_strips import EntryStrips, Place, RowIndex
from coder_tui.ui.draw.search_hits import HitPaint, marked_row
from coder_tui.ui.draw.strips import plain_strip
from coder_tui.ui.draw.widget import NARROWEST_DRAWING, DrawnLines
from coder_tui.ui.glyphs import UNICODE, Glyphs

SCREENS_COPIED_AS_SEEN = 20


class History(DrawnLines):
    def __init__(self, *, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(glyphs=glyphs)
        self.strips = EntryStrips()
        self.index = RowIndex()
        self.hits = HitPaint()
        self.place: Place | None = None
        """The row at the top of the view; None while the view follows the end."""
        self.cursor: int | None = None
        self._is_batching = False
        self._letters_above: int | None = None
        """Letters between the entry's start and the top of the view: the same at every width."""
        self._clicked_row = 0

    def add(self, entry: Entry, rows: Sequence[Strip] = (), height: int | None = None) -> int:
        """Add an entry and return its index; `rows` and `height` are given if it is drawn already."""
        index = self.strips.add(entry)
        if rows:
            self.strips.store(index, rows, self.palette)
        self.index.append(self.strips.estimate(index) if height is None else height + self.strips.gap(index))
        if not self._is_batching:
            self.refresh(layout=True)
        return index

    @contextmanager
    def adding_many(self) -> Iterator[None]:
        """Add any number of entries with a single layout."""
        self._is_batching = True
        try:
            yield
        finally:
            self._is_batching = False
            self.refresh(layout=True)

    def clear(self) -> None:
        self.strips.clear()
        self.index.replace_all(())
        self.place = self.cursor = self._letters_above = None

    def replace(self, index: int, entry: Entry) -> None:
        """Show another state of the same entry."""
        self.strips.replace(index, entry)
        self._changed(index)

    def toggle(self, index: int) -> None:
        """Fold or unfold one entry."""
        self.strips.toggle(index)
        self._changed(index)

    def open(self, index: int) -> None:
        """Show all of one entry."""
        self.strips.open(index)
        self._changed(index)

    def set_view(self, view: View) -> None:
        self.strips.set_view(view)
        self._estimate_all()
        self.refresh(layout=True)

    def set_top(self, row: int | None) -> None:
        """Remember the row at the top of the view; None to follow the end."""
        self.place = None if row is None else self.index.place_of(row)
        self._letters_above = None

    def is_wrapped_at(self, width: int) -> bool:
        return self.strips.width == max(NARROWEST_DRAWING, width)

    def settle(self, height: int) -> bool:
        """Make the heights around the view exact; return whether one changed."""
        count = len(self.strips)
        place = self.place or Place(count, 0)
        top = min(place.index, count)
        above = self.index.settle(range(top - 1, -1, -1), 2 * height, self._measure)
        below = self.index.settle(range(top, count), 2 * height + place.offset, self._measure)
        return above or below

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        if not self.is_wrapped_at(width):
            self._rewrap(max(NARROWEST_DRAWING, width))
        self.settle(viewport.height)
        return self.index.total

    def rows(self, first: int, last: int) -> list[Strip]:
        blank = plain_strip("", self.strips.width, self.palette.base)
        rows: list[Strip] = []
        index = self.index.index_at(first)
        while first + len(rows) < last and 0 <= index < len(self.strips):
            skip = first + len(rows) - self.index.start(index)
            height = self.index.height(index)
            drawn = self._with_marks(index, self.drawn(index))[:height]
            rows += (drawn + [blank] * (height - len(drawn)))[skip:]
            index += 1
        del rows[last - first :]
        return rows + [blank] * (last - first - len(rows))

    def text_select_all(self) -> None:
        """Select the entry under the mouse: a double click does not mean all of a long session."""
        index = self.index.index_at(self._clicked_row)
        if index >= 0:
            start = self.index.start(index)
            first, last = start + self.strips.gap(index), start + self.index.height(index) - 1
            end = Offset(self.strips.width, last)
            self.screen.selections = {self: Selection(Offset(0, first), end)}

    def selected_text(self, selection: Selection, first: int, last: int) -> str:
        """Copy more than some screens from their source, without drawing them."""
        if last - first <= SCREENS_COPIED_AS_SEEN * self.app.size.height:
            return super().selected_text(selection, first, last)
        indexes = range(self.index.index_at(first), self.index.index_at(last) + 1)
        return "\n\n".join(safe_text(self.strips.entries[index].source) for index in indexes)

    def on_click(self, event: events.Click) -> None:
        self._clicked_row = event.y
        self.move_cursor(self.index.index_at(event.y))

    def move_cursor(self, index: int | None) -> None:
        self.cursor = index if index is None or index >= 0 else None
        self.refresh()

    def drawn(self, index: int) -> list[Strip]:
        """Return all rows of an entry."""
        return self.strips.rows(index, self.palette)

    def _changed(self, index: int) -> None:
        if self._is_batching or not self.strips.width:
            return
        if self.index.change(index, len(self.drawn(index))):
            self._drop_selection()
            self.refresh(layout=True)
        else:
            self.refresh(Region(0, self.index.start(index), self.size.width, self.index.height(index)))

    def _measure(self, index: int) -> int:
        return len(self.drawn(index))

    def _with_marks(self, index: int, rows: list[Strip]) -> list[Strip]:
        rows = self.hits.paint(index, rows, self.palette)
        if index != self.cursor:
            return rows
        gap = self.strips.gap(index)
        return [*rows[:gap], *(marked_row(strip, self.palette) for strip in rows[gap:])]

    def _rewrap(self, width: int) -> None:
        """Wrap at another width; the text at the top of the view stays there."""
        place = self.place if self.place and self.place.index < len(self.strips) else None
        if place and place.offset and self._letters_above is None and self.strips.width:
            self._letters_above = _letters(self.drawn(place.index)[: place.offset])
        self.strips.wrap_at(width)
        self._estimate_all()
        self._drop_selection()
        if place and self._letters_above is not None:
            self.place = Place(place.index, _row_after(self.drawn(place.index), self._letters_above))

    def _estimate_all(self) -> None:
        self.index.replace_all(map(self.strips.estimate, range(len(self.strips))))

    def _drop_selection(self) -> None:
        """Drop the selection: it names rows, and rows have moved."""
        if self.is_attached and self in self.screen.selections:
            self.screen.clear_selection()


def _letters(rows: Sequence[Strip]) -> int:
    """Count the letters in rows, which do not depend on the width."""
    return sum(sum(map(str.isalnum, row.text)) for row in rows)


def _row_after(rows: Sequence[Strip], letters: int) -> int:
    seen = 0
    for number, row in enumerate(rows):
        seen += _letters([row])
        if seen > letters:
            return number
    return max(0, len(rows) - 1)
