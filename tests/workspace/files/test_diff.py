"""Diffs rebuild both files, stay bounded and count right."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unidiff.patch import PatchSet

from coder_tui.diffs.compare import matching_runs
from coder_tui.diffs.unified import FileDiff, unified_diff

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "  x\r\n", "long line\n"]), max_size=30)
TEXTS = st.tuples(LINES, st.sampled_from(["", "end", "a"])).map(lambda pair: "".join(pair[0]) + pair[1])


def applied(old: str, diff: FileDiff, folder: Path) -> str:
    (folder / "f.txt").write_text(old, newline="")
    (folder / "p.diff").write_text(diff.text, newline="")
    command = ["git", "apply", "--unidiff-zero", "--whitespace=nowarn", "p.diff"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return (folder / "f.txt").read_bytes().decode()


def test_a_changed_line_is_shown_with_its_context() -> None:
    diff = unified_diff("f.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n")

    assert diff == FileDiff(
        "--- a/f.txt\n+++ b/f.txt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
        additions=1,
        deletions=1,
    )


def test_a_missing_final_newline_is_said() -> None:
    assert unified_diff("f", "a\n", "a").text == (
        "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"
    )


def test_a_new_file_has_no_old_side() -> None:
    assert unified_diff("f", None, "a\nb\n") == FileDiff(
        "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n", additions=2, deletions=0
    )


def test_equal_texts_have_no_diff() -> None:
    assert unified_diff("f", "a\n", "a\n") == FileDiff("", 0, 0)


def test_a_name_with_a_newline_cannot_pass_for_a_line_of_the_diff() -> None:
    diff = unified_diff("x\n+++ b/y", "", "a\n")

    assert diff.text.startswith('--- "a/x\\n+++ b/y"\n+++ "b/x\\n+++ b/y"\n@@')


@pytest.mark.skipif(shutil.which("git") is None, reason="git judges the diff")
@settings(max_examples=40, deadline=None)
@given(old=TEXTS, new=TEXTS)
def test_git_rebuilds_the_new_text_from_the_old(
    tmp_path_factory: pytest.TempPathFactory, old: str, new: str
) -> None:
    diff = unified_diff("f.txt", old, new)

    assert old == new if not diff.text else applied(old, diff, tmp_path_factory.mktemp("diff")) == new


@settings(max_examples=300, deadline=None)
@given(old=LINES, new=LINES)
def test_runs_pair_equal_lines_in_rising_order(old: list[str], new: list[str]) -> None:
    old_at = new_at = 0
    for run in matching_runs(old, new):
        assert (run.old >= old_at, run.new >= new_at) == (True, True)
        assert old[run.old : run.old + run.length] == new[run.new : run.new + run.length]
        old_at, new_at = run.old + run.length, run.new + run.length


def test_counts_agree_with_another_parser() -> None:
    old = "".join(f"line {n}\n" for n in range(200))
    new = old.replace("line 7\n", "").replace("line 90\n", "ninety\nand more\n") + "tail\n"
    diff = unified_diff("f", old, new)

    parsed = PatchSet(diff.text)

    assert (parsed.added, parsed.removed) == (diff.additions, diff.deletions) == (3, 2)


def test_a_hopeless_pair_of_texts_ends_as_one_replacement() -> None:
    old = "".join("ab"[(n * n) % 7 % 2] + "\n" for n in range(20_000))
    new = "".join("cb"[(n * n) % 11 % 2] + "\n" for n in range(20_000))

    diff = unified_diff("f", old, new)

    assert (diff.additions, diff.deletions) == (20_000, 20_000)


def test_a_long_diff_is_cut_at_a_line_and_says_so() -> None:
    diff = unified_diff("f", "", "é line\n" * 20_000)

    text, is_cut = diff.cut()

    assert is_cut
    assert len(text.encode()) <= 50 * 1024
    assert diff.text.startswith(text)
    assert text.endswith("+é line\n")
