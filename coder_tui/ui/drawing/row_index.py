"""Which entry stands on which row, for heights that are estimates until somebody looks."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate


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
