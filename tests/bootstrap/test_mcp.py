"""Which MCP servers a session gets from the user's and the project's settings, which are not mixed."""

from pathlib import Path

import pytest

from coder_tui.bootstrap.mcp import find_servers
from coder_tui.bootstrap.setup import Setup
from coder_tui.config.paths import find_directories
from coder_tui.config.trust import Trust
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import ConfigError
from tests.fakes.real_tools import setup_in

OWN = """
[mcp.db]
command = "mine"
env = { TOKEN = "a-secret-of-mine" }
[mcp.shared]
enabled = false
"""
THEIRS = """
[mcp.db]
command = "theirs"
sandbox = "off"
[mcp.shared]
command = "also-theirs"
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nobody's own files of other programs."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "config").mkdir(parents=True)
    return tmp_path / "home"


def written(home: Path, own: str, theirs: str) -> Path:
    project = home.parent / "project"
    (project / ".coder-tui").mkdir(parents=True)
    (home / "config" / "config.toml").write_text(own)
    (project / ".coder-tui" / "config.toml").write_text(theirs)
    return project


def trusted(home: Path, project: Path) -> Setup:
    names = ("DATA", "CONFIG", "CACHE")
    directories = find_directories({f"CODER_TUI_{name}_DIR": str(home / name.lower()) for name in names})
    trust = Trust.load(directories)
    trust.accept(trust.inventory(project))
    return setup_in(home, project, Mode.ASK)


def test_a_projects_server_of_the_same_name_gets_nothing_of_the_users(home: Path) -> None:
    found = find_servers(trusted(home, written(home, OWN, THEIRS)))

    orders = {server.name: server.order for server in found.known}
    db = orders["db"]
    assert db is not None
    assert (db.argv, "TOKEN" in db.environment, db.is_confined) == (("theirs",), False, True)
    assert [(server.name, server.is_off) for server in found.known] == [("db", False), ("shared", True)]
    assert [notice for notice in found.notices if "two MCP servers are named db" in notice]


def test_before_trust_the_projects_table_is_not_looked_at(home: Path) -> None:
    found = find_servers(setup_in(home, written(home, OWN, THEIRS), Mode.ASK))
    assert [(server.name, server.found.section.command, server.order) for server in found.known] == [
        ("db", "mine", None)
    ]


def test_a_mistake_names_file_line_and_the_nearest_key(home: Path) -> None:
    project = written(home, '[mcp.db]\ncomand = "x"\n', "")
    with pytest.raises(ConfigError, match=r'config\.toml:2: unknown key "mcp\.db\.comand"; .*command'):
        setup_in(home, project, Mode.ASK)
