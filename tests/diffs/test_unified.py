"""Unified diffs are parsed with everything in them."""

import pytest
from hypothesis import given, settings

from coder_tui.diffs.compare import compare
from coder_tui.diffs.unified import FileStatistics, file_statistics, parse_unified, unified_diff
from coder_tui.protocol.comparison import Change, Comparison, FileState, Gap, Same, Section
from tests.diffs.texts import TEXTS
from tests.fakes.whole_comparison import completed


def sections(diff: str) -> tuple[Section, ...]:
    (comparison,) = parse_unified(diff)
    return comparison.sections


def test_hunks_have_their_places_and_gaps_between_them() -> None:
    diff = "--- a/x.py\n+++ b/x.py\n@@ -4,2 +4,2 @@ class A\n same\n-old\n+new\n@@ -9 +9 @@\n-y\n+z\n"
    (comparison,) = parse_unified(diff)
    assert comparison.sections == (
        Gap(0, 0, 3, "class A"),
        Same(3, 3, ("same\n",)),
        Change(4, 4, ("old\n",), ("new\n",)),
        Gap(5, 5, 3),
        Change(8, 8, ("y\n",), ("z\n",)),
    )
    assert (comparison.path, comparison.state, len(comparison.hunks)) == ("x.py", FileState.CHANGED, 2)


def test_a_line_without_an_end_is_one() -> None:
    diff = "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"
    assert sections(diff) == (Change(0, 0, ("a",), ("a\n",)),)


def test_line_ends_are_kept() -> None:
    assert sections("@@ -1 +1 @@\n-a\r\n+a\n") == (Change(0, 0, ("a\r\n",), ("a\n",)),)


def test_a_deleted_line_of_dashes_is_no_header() -> None:
    diff = "@@ -1,2 +1 @@\n--- a\n--- b\n+++ c\n"
    assert sections(diff) == (Change(0, 0, ("-- a\n", "-- b\n"), ("++ c\n",)),)


def test_several_files_are_separated() -> None:
    one = "--- a/one\n+++ b/one\n@@ -1 +1 @@\n-a\n+b\n"
    two = "--- /dev/null\n+++ b/two\n@@ -0,0 +1 @@\n+c\n"
    found = parse_unified(one + two)
    assert [(each.path, each.state, each.additions, each.deletions) for each in found] == [
        ("one", FileState.CHANGED, 1, 1),
        ("two", FileState.CREATED, 1, 0),
    ]


def test_a_rename_without_a_change_has_both_names() -> None:
    diff = "diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n"
    assert parse_unified(diff) == (Comparison("new", (), (), FileState.RENAMED, "old"),)


def test_a_deleted_file_has_its_name() -> None:
    (comparison,) = parse_unified("--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n")
    assert (comparison.path, comparison.state, comparison.is_one_sided) == ("gone", FileState.DELETED, True)


def test_lines_outside_hunks_are_noted() -> None:
    (comparison,) = parse_unified("Binary files a/x and b/x differ\n", "x")
    assert (comparison.path, comparison.notes) == ("x", ("Binary files a/x and b/x differ",))


@pytest.mark.parametrize("count", ["1", "9", "0,0"])
def test_wrong_counts_hide_no_line(count: str) -> None:
    diff = f"@@ -{count} +{count} @@\n-a\n b\n+c\n+d\n"
    shown = [section for section in sections(diff) if not isinstance(section, Gap)]
    assert [type(section) for section in shown] == [Change, Same, Change]
    assert shown[-1].height == 2


def test_a_cut_diff_is_read_as_far_as_possible() -> None:
    assert sections("@@ -1,9 +1,9 @@\n a\n-b") == (Same(0, 0, ("a\n",)), Change(1, 1, ("b\n",), ()))


def test_changed_lines_are_counted_in_each_file() -> None:
    one = "diff --git a/one b/one\nindex 1..2\n--- a/one\n+++ b/one\n@@ -1,2 +1 @@\n-a\x0c\n---- b\n+c\r\n"
    gone = "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\\ No newline at end of file\n"
    assert file_statistics(one + gone) == (FileStatistics("one", 1, 2), FileStatistics("gone", 0, 1))


@pytest.mark.parametrize(
    "diff",
    [
        "",
        "@@ -1 +1 @@\n-a\n+b\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+c\n",
        "--- a/x\n+++ b/x\n@@ -1,3 +1 @@\n-a\n+b\n",
        "--- a/x\n+++ b/x\n@@ ... @@\n-a\n+b\n",
        "--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\n-a\n+b\n",
        "diff --cc a\n--- a/a\n+++ b/a\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++c\n",
    ],
    ids=["empty", "no name", "long hunk", "short hunk", "no numbers", "CRLF header", "combined"],
)
def test_a_diff_that_may_be_read_wrong_is_not_counted(diff: str) -> None:
    assert file_statistics(diff) == ()


def test_nothing_is_no_file() -> None:
    assert parse_unified("") == ()


def test_a_gap_is_filled_from_the_file() -> None:
    (comparison,) = parse_unified("@@ -3 +3 @@\n-c\n+C\n")
    assert completed(comparison, "a\nb\nC\nd\n").sections == (
        Same(0, 0, ("a\n", "b\n")),
        Change(2, 2, ("c\n",), ("C\n",)),
        Same(3, 3, ("d\n",)),
    )


def test_a_file_that_the_diff_does_not_belong_to_is_refused() -> None:
    (comparison,) = parse_unified("@@ -3 +3 @@\n-c\n+C\n")
    with pytest.raises(ValueError, match="does not belong"):
        completed(comparison, "a\nb\nc\nd\n")


@given(TEXTS, TEXTS)
@settings(max_examples=200, deadline=None)
def test_a_hunk_has_the_same_id_in_a_diff_and_between_the_files(old: str, new: str) -> None:
    """Hunk ids from a diff alone are those from both files."""
    files = parse_unified(unified_diff("f", old, new).text, "f")
    seen = [hunk.id for file in files for hunk in file.hunks]
    assert seen == [hunk.id for hunk in compare(old, new, "f").hunks]


@given(TEXTS, TEXTS)
@settings(max_examples=200, deadline=None)
def test_a_diff_as_data_is_what_its_text_says(old: str, new: str) -> None:
    diff = unified_diff("f", old, new)
    assert parse_unified(diff.text, "f") == ((diff.file,) if diff.text else ())
