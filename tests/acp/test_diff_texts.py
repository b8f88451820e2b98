"""A diff becomes the two texts that an editor shows."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coder_tui.acp.content import TextPair, content_of, text_pairs
from coder_tui.diffs.unified import parse_unified, unified_diff
from coder_tui.protocol.display import DiffBlock

OLD = "".join(f"line {number}\n" for number in range(1, 31))
NEW = OLD.replace("line 2\n", "LINE 2\n").replace("line 25\n", "LINE 25\nand more\n")
TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "d"]), max_size=25).map("".join)


def pairs(folder: Path, old: str | None, new: str | None, *, is_done: bool) -> tuple[TextPair, ...]:
    diff = unified_diff("a.txt", old, new).text
    return text_pairs(parse_unified(diff, "a.txt"), folder, is_done=is_done)


@pytest.mark.parametrize("is_done", [False, True], ids=["before", "after"])
def test_whole_files_are_shown_if_the_disk_matches(tmp_path: Path, is_done: bool) -> None:
    (tmp_path / "a.txt").write_text(NEW if is_done else OLD)
    assert pairs(tmp_path, OLD, NEW, is_done=is_done) == (TextPair(tmp_path / "a.txt", OLD, NEW, 2),)


@given(old=TEXTS, new=TEXTS, is_done=st.booleans())
def test_both_texts_come_back_from_any_change(
    tmp_path_factory: pytest.TempPathFactory, old: str, new: str, is_done: bool
) -> None:
    if old == new:
        return
    folder = tmp_path_factory.mktemp("any")
    (folder / "a.txt").write_bytes((new if is_done else old).encode())
    [pair] = pairs(folder, old, new, is_done=is_done)
    assert (pair.old, pair.new) == (old, new)


def test_a_file_that_was_changed_since_is_shown_in_pieces(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("something else\n")
    first, second = pairs(tmp_path, OLD, NEW, is_done=True)
    assert (first.old, first.line) == ("line 1\nline 2\nline 3\nline 4\nline 5\n", 1)
    assert second.new == "line 22\nline 23\nline 24\nLINE 25\nand more\nline 26\nline 27\nline 28\n"


def test_a_new_file_has_no_old_text_and_a_deleted_one_no_new(tmp_path: Path) -> None:
    assert pairs(tmp_path, None, "x\n", is_done=False) == (TextPair(tmp_path / "a.txt", None, "x\n", 1),)
    [gone] = pairs(tmp_path, "x\n", None, is_done=True)
    assert (gone.old, gone.new) == ("x\n", "")


def test_a_diff_that_was_cut_says_so_and_shows_no_whole_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(OLD)
    diff = unified_diff("a.txt", OLD, NEW)
    cut = diff.text.partition("@@ -22")[0]
    sent, shown = content_of(DiffBlock("a.txt", cut, diff.additions, diff.deletions), tmp_path, is_done=False)
    assert sent.type == "content" and "Only part of the change" in sent.content.text
    assert shown.type == "diff" and shown.new_text == "line 1\nLINE 2\nline 3\nline 4\nline 5\n"
