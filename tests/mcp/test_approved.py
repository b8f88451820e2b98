"""Approvals are remembered; what changed, or cannot be looked up, needs approval again."""

from pathlib import Path

import pytest

from coder_tui.mcp.approved import CONFIG_CHANGED, RECORD_LOST, TOOL_CHANGED, Approved

ALLOWED = ("db", "config", "query", "reported")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "approved.json"
    Approved(path).record(*ALLOWED)
    return path


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (ALLOWED, ""),
        (("db", "other", "query", "reported"), CONFIG_CHANGED),
        (("db", "config", "query", "other"), TOOL_CHANGED),
        (("new", "config", "new", "reported"), ""),
    ],
)
def test_a_changed_server_or_tool_needs_approval_again(
    path: Path, call: tuple[str, str, str, str], reason: str
) -> None:
    assert Approved(path).changed(*call) == reason


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"server db": "config"}', b"\xff"])
def test_an_unreadable_record_makes_everything_need_approval_once(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    approved = Approved(path)
    assert approved.changed(*ALLOWED) == RECORD_LOST
    approved.record(*ALLOWED)
    assert approved.changed(*ALLOWED) == ""
    assert Approved(path).changed(*ALLOWED) == ""
