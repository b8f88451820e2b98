"""All finished entries of any number, drawn by one widget; only those near the view are ever rendered."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace

from textual import events
from textual.geometry import Offset, Region, Size
from textual.selection import Selection
from textual.strip import Strip

from coder_tui.text.safe_text import safe_text
from coder_tui.ui.drawing.call_entry import CallEntry
from coder_tui.ui.drawing.entries import Entry, View
from coder_tui.ui.drawing.glyphs import UNICODE, Glyphs
from coder_tui.ui.drawing.palette import Palette
from coder_tui.ui.drawing.row_index import Place, RowIndex
from coder_tui.ui.drawing.strips import plain_strip
from coder_tui.ui.widgets.drawn_lines import NARROWEST_DRAWING, DrawnLines

KEPT = 300
"""Entries whose strips stay cached."""


class History(DrawnLines):
    def __init__(self, *, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(glyphs=glyphs)
        self.entries: list[Entry] = []
        self.place: Place | None = None
        """The row at the top of the view; None while the view follows the end."""
        self._letters_above: int | None = None
        """Text between the entry's start and the top of the view: true at every width."""
        self.view = View()
        self.cursor: int | None = None
        self.is_batching = False
        self.index = RowIndex()
        self._cache: OrderedDict[int, list[Strip]] = OrderedDict()
        self._overrides: dict[int, bool] = {}
        self._wrapped = 0
        self._drawn_with: Palette | None = None
        self._clicked_row = 0
        self.drawings = 0
        """How many entries were rendered so far."""

    @property
    def cached(self) -> int:
        return len(self._cache)

    def add(self, entry: Entry, rows: Sequence[Strip] | None = None) -> int:
        """`rows` are the entry's own, where somebody has drawn them already; returns its index."""
        index = len(self.entries)
        self.entries.append(entry)
        if rows and rows[0].cell_length == self._wrapped and self._has_current_colours():
            self._cache[index] = self._with_gap(index, list(rows))
            self.index.append(len(self._cache[index]))
        else:
            self.index.append(entry.estimate(self._wrapped or 80, self.view_of(index)) + self._gap(index))
        if not self.is_batching:
            self.refresh(layout=True)
        return index

    def replace(self, index: int, entry: Entry) -> None:
        """Another state of the same entry."""
        self.entries[index] = entry
        if self.is_batching or not self._wrapped:
            return
        self._redraw(index)

    def view_of(self, index: int) -> View:
        is_open = self._overrides.get(index, self.view.is_open)
        return self.view if is_open is self.view.is_open else replace(self.view, is_open=is_open)

    def toggle(self, index: int) -> None:
        """Fold or unfold one entry."""
        self._overrides[index] = not self.entries[index].is_open(self.view_of(index))
        self._redraw(index)

    def set_view(self, view: View) -> None:
        if view.is_open is not self.view.is_open:
            self._overrides.clear()
        self.view = view
        self._forget()
        self.refresh(layout=True)

    def stand_at(self, row: int | None) -> None:
        """The reader went to a row, or to the end."""
        self.place = None if row is None else self.index.place_of(row)
        self._letters_above = None

    def is_wrapped_at(self, width: int) -> bool:
        return self._wrapped == max(NARROWEST_DRAWING, width)

    def settle(self, height: int) -> bool:
        """Make the heights around the view exact; says whether one was not."""
        count = len(self.entries)
        top = min(self.place.index, count) if self.place else count
        changed, rows, index = False, 0, top - 1
        while index >= 0 and rows < 2 * height:
            changed |= self.index.change(index, len(self._strips(index)))
            rows += self.index.height(index)
            index -= 1
        rows, index = -self.place.offset if self.place else 0, top
        while index < count and rows < 2 * height:
            changed |= self.index.change(index, len(self._strips(index)))
            rows += self.index.height(index)
            index += 1
        return changed

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        width = max(NARROWEST_DRAWING, width)
        if width != self._wrapped:
            self._rewrap(width)
        self.settle(viewport.height)
        return self.index.total

    def rows(self, first: int, last: int) -> list[Strip]:
        blank = plain_strip("", self._wrapped, self.palette.base)
        rows: list[Strip] = []
        index = self.index.index_at(first)
        while first + len(rows) < last and 0 <= index < len(self.entries):
            skip = first + len(rows) - self.index.start(index)
            height = self.index.height(index)
            strips = self._strips(index)[:height]
            part = (strips + [blank] * (height - len(strips)))[skip:]
            rows += self._lit(index, part)
            index += 1
        del rows[last - first :]
        return rows + [blank] * (last - first - len(rows))

    def text_select_all(self) -> None:
        """Select the entry under the mouse: all of a long session is not what a double click means."""
        index = self.index.index_at(self._clicked_row)
        if index >= 0:
            first = self.index.start(index) + self._gap(index)
            last = self.index.start(index) + self.index.height(index) - 1
            self.screen.selections = {self: Selection(Offset(0, first), Offset(self._wrapped, last))}

    def selected_text(self, selection: Selection, first: int, last: int) -> str:
        """Entries that lie inside as a whole far from the view come from their source, undrawn."""
        if last - first <= 20 * max(1, self.app.size.height):
            return super().selected_text(selection, first, last)
        indexes = range(self.index.index_at(first), self.index.index_at(last) + 1)
        return "\n\n".join(safe_text(self.entries[index].source) for index in indexes)

    def on_click(self, event: events.Click) -> None:
        self._clicked_row = event.y
        self.move_cursor(self.index.index_at(event.y))

    def move_cursor(self, index: int | None) -> None:
        self.cursor = index if index is None or index >= 0 else None
        self.refresh()

    def rows_at_cursor(self) -> tuple[int, int]:
        """First and last row of the entry that the cursor is on."""
        first = self.index.start(self.cursor or 0)
        return first, first + self.index.height(self.cursor or 0) - 1

    def _redraw(self, index: int) -> None:
        self._cache.pop(index, None)
        if self.index.change(index, len(self._strips(index))):
            self._drop_selection()
            self.refresh(layout=True)
        else:
            rows = Region(0, self.index.start(index), self.size.width, self.index.height(index))
            self.refresh(rows)

    def _strips(self, index: int) -> list[Strip]:
        if not self._has_current_colours():
            self._drawn_with = self.palette
            self._cache.clear()
        strips = self._cache.get(index)
        if strips is None:
            self.drawings += 1
            drawn = self.entries[index].draw(self._wrapped, self.palette, self.view_of(index))
            strips = self._cache[index] = self._with_gap(index, drawn)
            while len(self._cache) > KEPT:
                self._cache.popitem(last=False)
        self._cache.move_to_end(index)
        return strips

    def _has_current_colours(self) -> bool:
        """Whether the cached strips are of this theme."""
        if self._drawn_with is None:
            self._drawn_with = self.palette
        return self.palette is self._drawn_with

    def _with_gap(self, index: int, rows: list[Strip]) -> list[Strip]:
        """An entry that shows nothing has no blank row either."""
        return [plain_strip("", self._wrapped, self.palette.base)] * self._gap(index) + rows if rows else []

    def _gap(self, index: int) -> int:
        """Calls in a row stand close."""
        is_close = index > 0 and isinstance(self.entries[index - 1], CallEntry)
        entry = self.entries[index]
        return int(index > 0 and entry.has_gap and not (is_close and isinstance(entry, CallEntry)))

    def _lit(self, index: int, rows: list[Strip]) -> list[Strip]:
        if index != self.cursor:
            return rows
        return [strip.apply_style(self.palette.cursor) for strip in rows]

    def _rewrap(self, width: int) -> None:
        """Another width: the text at the top of the view stays there, wherever its row went."""
        place = self.place
        is_inside = place is not None and place.offset > 0 and place.index < len(self.entries)
        if place is not None and is_inside and self._letters_above is None and self._wrapped:
            self._letters_above = _letters(self._strips(place.index)[: place.offset])
        self._wrapped = width
        self._forget()
        self._drop_selection()
        if place is not None and is_inside and self._letters_above is not None:
            self.place = Place(place.index, _row_after(self._strips(place.index), self._letters_above))

    def _forget(self) -> None:
        self._cache.clear()
        width = self._wrapped or 80
        self.index.replace_all(
            entry.estimate(width, self.view_of(i)) + self._gap(i) for i, entry in enumerate(self.entries)
        )

    def _drop_selection(self) -> None:
        """It names rows, and rows have moved."""
        if self.is_attached and self in self.screen.selections:
            self.screen.clear_selection()


def _letters(rows: Sequence[Strip]) -> int:
    """How much text rows hold, whatever the width: words, without the signs that fill up a row."""
    return sum(sum(map(str.isalnum, row.text)) for row in rows)


def _row_after(rows: Sequence[Strip], letters: int) -> int:
    seen = 0
    for number, row in enumerate(rows):
        seen += _letters([row])
        if seen > letters:
            return number
    return max(0, len(rows) - 1)
