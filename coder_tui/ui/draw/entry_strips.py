"""Entries and a bounded cache of their drawn rows, and an index of which entry is on which row.

Heights are estimates until an entry comes into view.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from textual.strip import Strip

from coder_tui.text.packed import PackedList
from coder_tui.ui.draw.call_entry import CallEntry
from coder_tui.ui.draw.entries import Entry, ThinkingEntry, View
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.strips import plain_strip

KEPT = 300
"""Entries whose rows stay drawn."""
UNPACKED = 500
"""The newest entries, which are read most often."""

USUAL_WIDTH = 80
"""Columns, for estimates before the first layout."""


class EntryStrips:
    def __init__(self) -> None:
        self.entries: PackedList[Entry] = PackedList()
        self.view = View()
        self.width = 0
        self.drawings = 0
        """How many entries were rendered so far."""
        self._rows: OrderedDict[int, list[Strip]] = OrderedDict()
        self._overrides: dict[int, bool] = {}
        self._palette: Palette | None = None

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def cached(self) -> int:
        return len(self._rows)

    def store(self, index: int, rows: Sequence[Strip], palette: Palette) -> None:
        """Store rows that were drawn elsewhere, if they have the right width."""
        if rows and rows[0].cell_length == self.width:
            self._check_palette(palette)
            self._cache(index, self._with_gap(index, list(rows), palette))

    def add(self, entry: Entry) -> int:
        """Add an entry and return its index."""
        self.entries.append(entry)
        self.entries.unpack_from(len(self.entries) - UNPACKED)
        return len(self.entries) - 1

    def clear(self) -> None:
        self.entries = PackedList()
        self._rows.clear()
        self._overrides.clear()

    def replace(self, index: int, entry: Entry) -> None:
        self.entries[index] = entry
        self._rows.pop(index, None)

    def toggle(self, index: int) -> None:
        """Expand or collapse one entry."""
        self._overrides[index] = not self.entries[index].is_open(self.view_of(index))
        self._rows.pop(index, None)

    def open(self, index: int) -> None:
        self._overrides[index] = True
        self._rows.pop(index, None)

    def set_view(self, view: View) -> None:
        """Change how all entries are shown; expanding all of them overrides single entries."""
        if view.is_open is not self.view.is_open:
            self._overrides.clear()
        self.view = view
        self._rows.clear()

    def wrap_at(self, width: int) -> None:
        self.width = width
        self._rows.clear()

    def view_of(self, index: int) -> View:
        # Thinking has a level of its own: expanding all calls does not change it.
        is_thought = isinstance(self.entries[index], ThinkingEntry)
        is_open = self._overrides.get(index, None if is_thought else self.view.is_open)
        return self.view if is_open is self.view.is_open else replace(self.view, is_open=is_open)

    def estimate(self, index: int) -> int:
        width = self.width or USUAL_WIDTH
        return self.entries[index].estimate(width, self.view_of(index)) + self.gap(index)

    def rows(self, index: int, palette: Palette) -> list[Strip]:
        self._check_palette(palette)
        rows = self._rows.get(index)
        if rows is None:
            self.drawings += 1
            drawn = self.entries[index].draw(self.width, palette, self.view_of(index))
            rows = self._with_gap(index, drawn, palette)
        self._cache(index, rows)
        return rows

    def gap(self, index: int) -> int:
        """Return the blank rows above an entry; there are none between calls."""
        entry = self.entries[index]
        is_close = (
            isinstance(entry, CallEntry) and index > 0 and isinstance(self.entries[index - 1], CallEntry)
        )
        return int(index > 0 and entry.has_gap and not is_close)

    def _cache(self, index: int, rows: list[Strip]) -> None:
        """Store rows as the newest and drop those that were not used for longest."""
        self._rows[index] = rows
        self._rows.move_to_end(index)
        while len(self._rows) > KEPT:
            self._rows.popitem(last=False)

    def _with_gap(self, index: int, rows: list[Strip], palette: Palette) -> list[Strip]:
        """Add the blank row above, unless the entry shows nothing."""
        return [plain_strip("", self.width, palette.base)] * self.gap(index) + rows if rows else []

    def _check_palette(self, palette: Palette) -> None:
        if palette is not self._palette:  # another theme
            self._palette = palette
            self._rows.clear()


@dataclass(frozen=True, slots=True)
class Place:
    """A row as an offset in its entry: still right after heights above have changed."""

    index: int
    offset: int


class RowIndex:
    """Heights and their running sum. Most changes are at the end, so the sum before a change is kept."""

    def __init__(self) -> None:
        self._heights: list[int] = []
        self._starts: list[int] = [0]

    def __len__(self) -> int:
        return len(self._heights)

    def height(self, index: int) -> int:
        return self._heights[index]

    def append(self, height: int) -> None:
        self._heights.append(height)

    def replace_all(self, heights: Iterable[int]) -> None:
        self._heights = list(heights)
        self._starts = [0]

    def change(self, index: int, height: int) -> bool:
        """Set a height and return whether it is new."""
        if self._heights[index] == height:
            return False
        self._heights[index] = height
        del self._starts[index + 1 :]
        return True

    def settle(self, indexes: Iterable[int], rows: int, measure: Callable[[int], int]) -> bool:
        """Measure entries in this order until they fill `rows`; return whether a height is new."""
        has_changed, measured = False, 0
        for index in indexes:
            if measured >= rows:
                break
            has_changed |= self.change(index, measure(index))
            measured += self._heights[index]
        return has_changed

    @property
    def total(self) -> int:
        return self._complete()[-1]

    def start(self, index: int) -> int:
        return self._complete()[index]

    def index_at(self, row: int) -> int:
        """Return the entry on a row, the nearest one for a row outside, or -1 if there are none."""
        return max(0, min(bisect_right(self._complete(), row), len(self)) - 1) if self._heights else -1

    def place_of(self, row: int) -> Place:
        """Return the place of a row; rows below the last entry count from its end."""
        if row >= self.total:
            return Place(len(self), row - self.total)
        index = self.index_at(row)
        return Place(index, row - self.start(index))

    def row_of(self, place: Place) -> int:
        return self.start(min(place.index, len(self))) + place.offset

    def _complete(self) -> list[int]:
        known = len(self._starts)
        if known <= len(self._heights):
            more = accumulate(self._heights[known - 1 :], initial=self._starts[-1])
            next(more)
            self._starts.extend(more)
        return self._starts
