import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

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


def test_thousands_of_small_items_become_a_note(tmp_path: Path) -> None:
    result = json.loads(OutputGuard(tmp_path).guard({"ok": True, "items": ["abc"] * 50_000}, "c"))
    assert set(result) == {"ok", "output_truncated", "full_output", "note"}


def test_a_result_that_cannot_be_kept_is_still_a_result(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    result = json.loads(OutputGuard(tmp_path / "taken").guard({"ok": True, "content": "x" * 90_000}, "c"))
    assert result["content"].endswith("[output truncated]")
    assert "could not be kept" in result["note"]


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=300), st.integers(1, 900))
def test_the_result_is_always_valid_json_within_the_limit(text: str, times: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        guarded = OutputGuard(Path(folder)).guard({"ok": True, "content": text * times}, "c")
    assert len(guarded.encode()) <= MAX_BYTES + 500
    assert json.loads(guarded)["ok"] is True
