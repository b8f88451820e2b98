"""Comparisons contain both files completely."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coder_tui.diffs.compare import compare
from coder_tui.diffs.hunks import undo_hunks
from coder_tui.diffs.rows import BLOCK, Row, lay_out, split_rows
from coder_tui.protocol.comparison import Change, Comparison, FileState, Same
from tests.diffs.texts import TEXTS


def sides(rows: list[Row]) -> tuple[str, str]:
    old = "".join(row.old.line for row in rows if row.old)
    return old, "".join(row.new.line for row in rows if row.new)


def split(comparison: Comparison) -> list[Row]:
    return [row for section in comparison.sections for row in split_rows(section)]


def unified(comparison: Comparison) -> list[Row]:
    return [row for piece in lay_out(comparison, None, is_split=False) for row in piece.rows()]


@given(TEXTS, TEXTS)
@settings(max_examples=300, deadline=None)
def test_both_sides_of_the_rows_are_both_files(old: str, new: str) -> None:
    comparison = compare(old, new)
    assert sides(split(comparison)) == (old, new)
    assert sides(unified(comparison)) == (old, new)


@given(TEXTS, TEXTS)
@settings(max_examples=200, deadline=None)
def test_numbers_count_through_both_files(old: str, new: str) -> None:
    rows = split(compare(old, new))
    for cells in ([row.old for row in rows if row.old], [row.new for row in rows if row.new]):
        assert [cell.number for cell in cells] == list(range(1, len(cells) + 1))


@given(TEXTS, TEXTS)
@settings(max_examples=200, deadline=None)
def test_emphasis_is_inside_the_line_and_in_order(old: str, new: str) -> None:
    for row in split(compare(old, new)):
        for cell in filter(None, (row.old, row.new)):
            marks = [mark for span in cell.emphasis for mark in span]
            assert marks == sorted(set(marks))
            assert all(0 <= mark <= len(cell.body) for mark in marks)


def test_a_changed_line_is_between_equal_ones() -> None:
    comparison = compare("a\nb\nc\n", "a\nB\nc\n", "f")
    assert comparison.sections == (
        Same(0, 0, ("a\n",)),
        Change(1, 1, ("b\n",), ("B\n",)),
        Same(2, 2, ("c\n",)),
    )
    assert (comparison.additions, comparison.deletions, comparison.is_whole) == (1, 1, True)


@pytest.mark.parametrize(
    ("old", "new", "old_path", "state", "is_one_sided"),
    [
        (None, "a\n", "", FileState.CREATED, True),
        ("a\n", None, "", FileState.DELETED, True),
        ("a\n", "", "", FileState.CHANGED, True),
        ("a\n", "a\nb\n", "", FileState.CHANGED, False),
        ("a\n", "b\n", "", FileState.CHANGED, False),
        ("a\n", "a\n", "g", FileState.RENAMED, False),
        ("a\n", "a\n", "f", FileState.CHANGED, False),
    ],
)
def test_a_comparison_knows_what_became_of_the_file(
    old: str | None, new: str | None, old_path: str, state: FileState, is_one_sided: bool
) -> None:
    comparison = compare(old, new, "f", old_path)
    assert (comparison.state, comparison.is_one_sided) == (state, is_one_sided)


def test_lines_opposite_a_gap_have_nothing_next_to_them() -> None:
    rows = split(
        compare("    return a / b\n", "    if b == 0:\n        raise ValueError\n    return a / b or 0\n")
    )
    assert [(row.old and row.old.number, row.new and row.new.number) for row in rows] == [
        (None, 1),
        (None, 2),
        (1, 3),
    ]


def test_lines_that_have_nothing_in_common_are_opposite_without_emphasis() -> None:
    (row,) = split(compare("alpha\n", "beta\n"))
    assert row.old is not None
    assert row.new is not None
    assert (row.old.emphasis, row.new.emphasis) == ((), ())


def test_a_run_longer_than_a_block_is_cut_at_one_place() -> None:
    old = "".join(f"value {n} of old\n" for n in range(3 * BLOCK))
    rows = split(compare(old, old.replace("old", "new")))
    assert len(rows) == 3 * BLOCK
    assert {row.old and row.old.emphasis for row in rows if row.old} <= {
        ((len(f"value {n} of "), len(f"value {n} of old")),) for n in (1, 10, 100)
    }


@given(
    st.lists(st.sampled_from(["keep", "keep", "keep", "drop", "change", "add"]), max_size=60), st.randoms()
)
@settings(max_examples=100, deadline=None)
def test_hunks_keep_their_ids_when_others_are_undone(edits: list[str], chance: random.Random) -> None:
    old = "".join(f"line {n}\n" for n in range(len(edits)))
    kinds = {"keep": "line {n}\n", "drop": "", "change": "new {n}\n", "add": "line {n}\nmore {n}\n"}
    new = "".join(kinds[edit].format(n=n) for n, edit in enumerate(edits))
    comparison = compare(old, new)
    rejected = [hunk.id for hunk in comparison.hunks if chance.random() < 0.5]
    rest = [hunk.id for hunk in comparison.hunks if hunk.id not in rejected]
    assert [hunk.id for hunk in compare(old, undo_hunks(comparison, rejected)).hunks] == rest


def test_equal_hunks_of_two_files_have_ids_of_their_own() -> None:
    one, other = (compare("a\n", "b\n", path).hunks[0].id for path in ("one", "other"))
    assert one != other
