"""Entries and their drawn rows, of which a bounded number is kept.

Which entry stands on which row, for heights that are estimates until somebody looks.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Sequence
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
"""The newest entries, which are looked at most."""

USUAL_WIDTH = 80
"""For estimates before the first layout."""


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

    def keep(self, index: int, rows: Sequence[Strip], palette: Palette) -> None:
        """Take over rows that somebody has drawn, if they fit."""
        if rows and rows[0].cell_length == self.width:
            self._check_palette(palette)
            self._hold(index, self._with_gap(index, list(rows), palette))

    def add(self, entry: Entry) -> int:
        """Its index."""
        self.entries.append(entry)
        self.entries.keep_at_hand(len(self.entries) - UNPACKED)
        return len(self.entries) - 1

    def clear(self) -> None:
        self.entries = PackedList()
        self._rows.clear()
        self._overrides.clear()

    def replace(self, index: int, entry: Entry) -> None:
        self.entries[index] = entry
        self._rows.pop(index, None)

    def toggle(self, index: int) -> None:
        """Fold or unfold one entry."""
        self._overrides[index] = not self.entries[index].is_open(self.view_of(index))
        self._rows.pop(index, None)

    def open(self, index: int) -> None:
        self._overrides[index] = True
        self._rows.pop(index, None)

    def set_view(self, view: View) -> None:
        """For all entries; folding everything overrules what was done to single ones."""
        if view.is_open is not self.view.is_open:
            self._overrides.clear()
        self.view = view
        self._rows.clear()

    def wrap_at(self, width: int) -> None:
        self.width = width
        self._rows.clear()

    def view_of(self, index: int) -> View:
        # How much of a thought shows is a matter of its own level, not of folding all calls.
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
        self._hold(index, rows)
        return rows

    def gap(self, index: int) -> int:
        """Blank rows above an entry; calls in a row stand close."""
        entry = self.entries[index]
        is_close = (
            isinstance(entry, CallEntry) and index > 0 and isinstance(self.entries[index - 1], CallEntry)
        )
        return int(index > 0 and entry.has_gap and not is_close)

    def _hold(self, index: int, rows: list[Strip]) -> None:
        """As the newest; what was not looked at for long gives way, whoever drew the new ones."""
        self._rows[index] = rows
        self._rows.move_to_end(index)
        while len(self._rows) > KEPT:
            self._rows.popitem(last=False)

    def _with_gap(self, index: int, rows: list[Strip], palette: Palette) -> list[Strip]:
        """An entry that shows nothing has no blank row either."""
        return [plain_strip("", self.width, palette.base)] * self.gap(index) + rows if rows else []

    def _check_palette(self, palette: Palette) -> None:
        if palette is not self._palette:  # another theme
            self._palette = palette
            self._rows.clear()


@dataclass(frozen=True, slots=True)
class Place:
    """A row by the entry it belongs to: stays true while heights above change."""

    index: int
    offset: int


class RowIndex:
    """Heights and their running sum; the sum is kept up to a change, since most come at the end."""

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
        """Whether it was another height."""
        if self._heights[index] == height:
            return False
        self._heights[index] = height
        del self._starts[index + 1 :]
        return True

    @property
    def total(self) -> int:
        return self._complete()[-1]

    def start(self, index: int) -> int:
        return self._complete()[index]

    def index_at(self, row: int) -> int:
        """The entry on a row, the nearest one for rows outside; -1 when there is none."""
        return max(0, min(bisect_right(self._complete(), row), len(self)) - 1) if self._heights else -1

    def place_of(self, row: int) -> Place:
        """Rows below the last entry count on from its end."""
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
