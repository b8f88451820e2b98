import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from coder_tui.diffs.unified import DIFF_LIMIT
from coder_tui.tools.truncate import MAX_BYTES, MAX_LINES, OutputGuard


def test_a_small_result_passes_as_it_is(tmp_path: Path) -> None:
    assert json.loads(OutputGuard(tmp_path).guard({"ok": True, "content": "hi"}, "c")) == {
        "ok": True,
        "content": "hi",
    }
    assert list(tmp_path.iterdir()) == []


def test_the_longest_text_is_cut_and_kept_whole_in_a_file(tmp_path: Path) -> None:
    whole = "x" * 200_000
    result = json.loads(OutputGuard(tmp_path).guard({"ok": True, "path": "a", "content": whole}, "call/1"))
    assert result["path"] == "a"
    assert result["content"].endswith("[output truncated]")
    assert whole in Path(result["full_output"]).read_text(encoding="utf-8")
    assert "grep and read" in result["note"]


def test_too_many_lines_are_cut(tmp_path: Path) -> None:
    result = json.loads(OutputGuard(tmp_path).guard({"ok": True, "content": "a\n" * 5_000}, "c"))
    assert result["content"].count("\n") <= MAX_LINES


def test_a_tool_that_truncates_itself_is_left_alone(tmp_path: Path) -> None:
    result = {"ok": True, "stdout": "x" * 60_000, "truncated": True}
    assert json.loads(OutputGuard(tmp_path).guard(result, "c")) == result


def test_a_diff_is_whole_up_to_its_own_limit(tmp_path: Path) -> None:
    diff = "+x\n" * (DIFF_LIMIT // 3)
    whole = {"ok": True, "path": "a", "diff": diff}
    assert json.loads(OutputGuard(tmp_path).guard(whole, "c")) == whole
    longer = {**whole, "diff": f"{diff}+x\n"}
    assert json.loads(OutputGuard(tmp_path).guard(longer, "c"))["output_truncated"] is True


def test_of_thousands_of_small_items_the_first_are_kept(tmp_path: Path) -> None:
    items = [{"path": "a.py", "line": number, "text": "x" * 200} for number in range(400)]
    result = json.loads(OutputGuard(tmp_path).guard({"ok": True, "matches": items}, "c"))
    assert result["matches"] == items[: len(result["matches"])]
    assert len(result["matches"]) > 100
    assert result["items_left_out"] == 400 - len(result["matches"])


def test_of_every_long_list_the_first_items_are_kept(tmp_path: Path) -> None:
    files = [{"path": f"f{number}", "content": "x" * 100} for number in range(3_000)]
    names = [f"s{number}" for number in range(20_000)]
    cut = json.loads(OutputGuard(tmp_path).guard({"ok": True, "files": files, "in": {"skipped": names}}, "c"))
    kept_files, kept_names = len(cut["files"]), len(cut["in"]["skipped"])
    assert (cut["files"], cut["in"]["skipped"]) == (files[:kept_files], names[:kept_names])
    assert kept_files > 50
    assert kept_names > 500
    assert cut["items_left_out"] == 23_000 - kept_files - kept_names
    assert cut["output_truncated"] is True


def test_a_result_that_was_cut_does_not_say_that_it_is_whole(tmp_path: Path) -> None:
    found = {"ok": True, "matches": [f"src/file{number}.py" for number in range(20_000)], "truncated": False}
    assert json.loads(OutputGuard(tmp_path).guard(found, "c"))["truncated"] is True


def test_of_very_many_fields_the_first_are_kept(tmp_path: Path) -> None:
    fields = {f"k{number}": "v" * 500 for number in range(500)}
    cut = json.loads(OutputGuard(tmp_path).guard({"ok": True, **fields}, "c"))
    assert len(cut) > 50
    assert cut["k0"] == fields["k0"]


def test_two_calls_with_one_name_would_share_a_file_so_names_are_given(tmp_path: Path) -> None:
    guard = OutputGuard(tmp_path)
    for name in ("s1-call_0", "s2-call_0"):
        guard.guard({"ok": True, "content": name + "x" * 90_000}, name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s1-call_0.txt", "s2-call_0.txt"]


def test_a_lone_surrogate_is_kept(tmp_path: Path) -> None:
    result = json.loads(OutputGuard(tmp_path).guard({"ok": True, "content": "\ud800" * 60_000}, "c"))
    assert result["content"].startswith("\ud800")


def test_a_result_that_cannot_be_kept_is_still_a_result(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    result = json.loads(OutputGuard(tmp_path / "taken").guard({"ok": True, "content": "x" * 90_000}, "c"))
    assert result["content"].endswith("[output truncated]")
    assert "could not be saved" in result["note"]


JSON = st.recursive(
    st.text(max_size=60) | st.integers(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
    max_leaves=20,
)


@settings(max_examples=60, deadline=None)
@given(JSON, st.integers(1, 700), st.text(max_size=100), st.integers(1, 900))
def test_the_result_is_always_valid_json_within_the_limit(
    items: object, many: int, text: str, times: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        result = {"ok": True, "content": text * times, "items": [items] * many}
        guarded = OutputGuard(Path(folder)).guard(result, "c")
    assert len(guarded.encode()) <= MAX_BYTES + 500
    assert json.loads(guarded)["ok"] is True


def test_the_saved_output_has_no_secrets_and_is_private(tmp_path: Path) -> None:
    content = "key sk-ant-abcdefgh0123456789\n" + "x\n" * 5_000
    result = json.loads(OutputGuard(tmp_path).guard({"ok": True, "content": content}, "c"))
    saved = Path(result["full_output"])
    assert saved.read_text() == "key [redacted]\n" + "x\n" * 5_000
    assert saved.stat().st_mode & 0o777 == 0o600
    assert result["content"].startswith("key sk-ant-abcdefgh0123456789\n")
