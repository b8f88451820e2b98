"""Rejecting hunks gives exactly the file without them, as git sees it too."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coder_tui.diffs.compare import compare
from coder_tui.diffs.hunks import patch, split_hunk, undo_hunks
from coder_tui.diffs.unified import parse_unified
from coder_tui.protocol.comparison import Comparison
from tests.diffs.git import diff_by_git, undone_by_git
from tests.diffs.texts import TEXTS, random_edit, random_text
from tests.fakes.whole_comparison import completed

OLD = "".join(f"{n}\n" for n in range(1, 31))
NEW = OLD.replace("2\n3\n", "2\nthree\n", 1).replace("25\n", "", 1)


def ids(comparison: Comparison) -> list[str]:
    return [hunk.id for hunk in comparison.hunks]


def apart(comparison: Comparison, times: int = 1) -> Comparison:
    for _ in range(times):
        for id in ids(comparison):
            comparison = split_hunk(comparison, id)
    return comparison


def test_a_rejected_hunk_is_undone_and_the_other_stays() -> None:
    comparison = compare(OLD, NEW)
    first, second = ids(comparison)
    assert undo_hunks(comparison, [first]) == OLD.replace("25\n", "", 1)
    assert undo_hunks(comparison, [second]) == OLD.replace("2\n3\n", "2\nthree\n", 1)


@given(TEXTS, TEXTS, st.integers(0, 3))
@settings(max_examples=200, deadline=None)
def test_all_hunks_undone_are_the_old_file_and_none_the_new(old: str, new: str, times: int) -> None:
    comparison = apart(compare(old, new), times)
    assert undo_hunks(comparison, ids(comparison)) == old
    assert undo_hunks(comparison, []) == new


@given(TEXTS, TEXTS, st.integers(0, 3), st.randoms())
@settings(max_examples=200, deadline=None)
def test_a_patch_of_some_hunks_read_again_undoes_just_them(
    old: str, new: str, times: int, chance: random.Random
) -> None:
    comparison = apart(compare(old, new), times)
    if some := [id for id in ids(comparison) if chance.random() < 0.5]:
        again = completed(parse_unified(patch(comparison, some))[0], new)
        assert undo_hunks(again, ids(again)) == undo_hunks(comparison, some)


@pytest.mark.parametrize("seed", range(25))
def test_rejecting_equals_git_apply_backwards(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    old = random_text(chance)
    new = random_edit(chance, old)
    comparison = apart(compare(old, new), seed % 3)
    some = [id for id in ids(comparison) if chance.random() < 0.5]
    if some:
        assert undo_hunks(comparison, some) == undone_by_git(tmp_path, new, patch(comparison, some))


@pytest.mark.parametrize("seed", range(25))
def test_rejecting_a_hunk_of_git_equals_git_apply_backwards(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    old = random_text(chance, 80)
    new = random_edit(chance, old)
    diff = diff_by_git(tmp_path, old, new)
    pieces = [f"@@ {piece}" for piece in f"\n{diff}".split("\n@@ ")[1:]]
    for number, piece in enumerate(pieces):
        comparison = completed(parse_unified(diff)[0], new)
        assert len(comparison.hunks) == len(pieces)
        undone = undo_hunks(comparison, [comparison.hunks[number].id])
        assert undone == undone_by_git(tmp_path, new, f"{piece.removesuffix(chr(10))}\n")


def test_a_hunk_is_taken_apart_at_the_lines_between_its_changes() -> None:
    comparison = compare("a\nb\nc\nd\n", "A1\nb\nC1\nd\n")
    assert len(comparison.hunks) == 1
    parts = apart(comparison)
    assert [parts.sections[hunk.start] for hunk in parts.hunks] == list(comparison.changes)
    assert undo_hunks(parts, [parts.hunks[1].id]) == "A1\nb\nc\nd\n"


def test_a_change_is_taken_apart_by_runs_and_then_by_lines() -> None:
    comparison = compare("one = 1\n", "import a\nimport b\none = 2\n")
    parts = apart(comparison)
    assert [change.added for change in parts.changes] == [("import a\n", "import b\n"), ("one = 2\n",)]
    lines = apart(parts)
    assert [change.added for change in lines.changes] == [("import a\n",), ("import b\n",), ("one = 2\n",)]
    assert undo_hunks(lines, [lines.hunks[0].id]) == "import b\none = 2\n"
    assert apart(lines) == lines


def test_equal_lines_taken_apart_have_ids_of_their_own() -> None:
    parts = apart(compare("", "x\nx\nx\n"))
    assert len(set(ids(parts))) == 3


def test_nothing_follows_a_line_without_an_end() -> None:
    parts = apart(compare("last = 1", "last = 1\nmore\nand more"), 3)
    for id in ids(parts):
        assert undo_hunks(parts, [id]) in {"last = 1", "last = 1\nmore\nand more"}


def test_other_hunks_keep_their_ids_when_one_is_taken_apart() -> None:
    comparison = compare("a\nb\n" + OLD, "A\nB\n" + NEW)
    first, *others = ids(comparison)
    assert set(others) < set(ids(split_hunk(comparison, first)))


def test_a_diff_with_gaps_gives_no_whole_file() -> None:
    comparison = compare(OLD, NEW)
    partial = parse_unified(patch(comparison, ids(comparison)))[0]
    with pytest.raises(ValueError, match="leaves lines out"):
        undo_hunks(partial, [])


def test_an_unknown_hunk_is_an_error() -> None:
    with pytest.raises(KeyError):
        undo_hunks(compare(OLD, NEW), ["no such id"])
