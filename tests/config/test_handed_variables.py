"""A project's server that wants the person's variables says so before they trust it, however long it is."""

import json
from pathlib import Path

import pytest

from coder_tui.config.paths import Directories
from coder_tui.config.trust import Trust

PADDING = "x" * 5_000
ENTRIES = {
    ".mcp.json": {
        "mcpServers": {"s": {"command": "a", "env": {"A": PADDING, "B": "${MY_KEY:-x}", "C": PADDING}}}
    },
    ".gemini/settings.json": {"mcpServers": {"s": {"httpUrl": f"https://example.org/{PADDING}$MY_KEY/x"}}},
    "opencode.json": {"mcp": {"s": {"command": ["a", PADDING, "{env:MY_KEY}", PADDING]}}},
    ".coder-tui/config.json": {"mcp": {"s": {"command": ["a", PADDING, "${MY_KEY}", PADDING]}}},
}


@pytest.mark.parametrize("name", ENTRIES)
def test_what_a_server_is_handed_is_said_first(name: str, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    (project / name).write_text(json.dumps(ENTRIES[name]))
    directories = Directories(*(tmp_path / each for each in ("config", "data", "cache", "log")))

    (item,) = Trust.load(directories).inventory(project).items

    assert item.sentence.startswith('starts the server "s", which is handed your MY_KEY: ')
