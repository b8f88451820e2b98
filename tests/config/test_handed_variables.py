"""The trust dialog shows which variables of the user a project's server gets, however long its entry is."""

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
def test_the_variables_of_a_server_come_first(name: str, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    (project / name).write_text(json.dumps(ENTRIES[name]))
    directories = Directories(*(tmp_path / each for each in ("config", "data", "cache", "log")))

    (item,) = Trust.load(directories).inventory(project).items

    assert item.sentence.startswith('starts the server "s", which gets your MY_KEY: ')
