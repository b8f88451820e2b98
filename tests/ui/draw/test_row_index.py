"""Rows and entries."""

from hypothesis import given
from hypothesis import strategies as st

from coder_tui.ui.draw.entry_strips import Place, RowIndex

HEIGHTS = st.lists(st.integers(0, 5), min_size=1, max_size=20)


def index_of(heights: list[int]) -> RowIndex:
    index = RowIndex()
    for height in heights:
        index.append(height)
    return index


@given(HEIGHTS, st.lists(st.tuples(st.integers(0, 19), st.integers(0, 9)), max_size=10))
def test_sums_are_right_after_any_changes(heights: list[int], changes: list[tuple[int, int]]) -> None:
    index = index_of(heights)
    for position, height in changes:
        position %= len(heights)
        index.change(position, height)
        heights[position] = height
        sums = [sum(heights[:i]) for i in range(len(heights))]
        assert [index.start(i) for i in range(len(heights))] == sums
        assert index.total == sum(heights)


@given(HEIGHTS, st.integers(0, 120))
def test_a_place_leads_back_to_its_row(heights: list[int], row: int) -> None:
    index = index_of(heights)
    assert index.row_of(index.place_of(row)) == row


def test_a_place_moves_with_its_entry() -> None:
    index = index_of([2, 3, 4])
    place = index.place_of(3)
    assert place == Place(1, 1)
    index.change(0, 10)
    assert index.row_of(place) == 11


def test_an_empty_index_has_no_entry_anywhere() -> None:
    assert (RowIndex().index_at(5), RowIndex().total) == (-1, 0)


def test_rows_outside_belong_to_the_nearest_entry() -> None:
    index = index_of([2, 2])
    assert (index.index_at(-3), index.index_at(99)) == (0, 1)
