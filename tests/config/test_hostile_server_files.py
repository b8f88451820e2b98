"""Hostile server files that try to keep the program busy are read in one pass, before any trust."""

import json
from pathlib import Path

import pytest

from coder_tui.config.mcp_files import server_file
from coder_tui.config.project import ProjectFileError

# Each took hours, and longer with every byte, when it was searched again from each character.
NEVER_CLOSED = {
    "text": b'"' + b'\\"' * 400_000,
    "text-and-backslash": b'"' + b'\\"' * 400_000 + b"\\",
    "comment": b"/*" * 400_000,
}


@pytest.mark.parametrize("case", NEVER_CLOSED)
def test_an_unclosed_string_or_comment_is_invalid_json(case: str, tmp_path: Path) -> None:
    (tmp_path / "opencode.json").write_bytes(NEVER_CLOSED[case])
    with pytest.raises(ProjectFileError, match="is not valid JSON"):
        server_file(tmp_path, "opencode.json")


def test_sixty_thousand_servers_are_read_at_once(tmp_path: Path) -> None:
    servers = {f"s{number}": 1 for number in range(60_000)}
    (tmp_path / "opencode.json").write_text(json.dumps({"mcp": servers}))
    found = server_file(tmp_path, "opencode.json")
    assert found is not None and json.loads(found.data) == {"mcpServers": servers}
