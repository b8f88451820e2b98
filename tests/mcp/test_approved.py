"""What was allowed is remembered, and who changes, or cannot be looked up, is asked about again."""

from pathlib import Path

import pytest

from coder_tui.mcp.approved import CONFIG_CHANGED, RECORD_LOST, TOOL_CHANGED, Approved

ALLOWED = ("db", "config", "query", "told")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "approved.json"
    Approved(path).note(*ALLOWED)
    return path


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (ALLOWED, ""),
        (("db", "other", "query", "told"), CONFIG_CHANGED),
        (("db", "config", "query", "other"), TOOL_CHANGED),
        (("new", "config", "new", "told"), ""),
    ],
)
def test_who_changed_is_asked_about_again(path: Path, call: tuple[str, str, str, str], reason: str) -> None:
    assert Approved(path).changed(*call) == reason


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"server db": "config"}', b"\xff"])
def test_a_record_that_cannot_be_read_has_everything_asked_about_once(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    approved = Approved(path)
    assert approved.changed(*ALLOWED) == RECORD_LOST
    approved.note(*ALLOWED)
    assert approved.changed(*ALLOWED) == ""
    assert Approved(path).changed(*ALLOWED) == ""
