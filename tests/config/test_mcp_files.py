"""MCP servers in files of other programs: the same in every format, and none before trust."""

import json
from pathlib import Path

import pytest

from coder_tui.config.mcp_files import FoundServer, FoundServers, claude_servers, project_servers
from coder_tui.config.paths import Directories
from coder_tui.config.trust import Trust

CLAUDE = {
    "mcpServers": {
        "files": {"command": "npx", "args": ["-y", "files"], "env": {"ROOT": "${HOME}", "N": 1}},
        "web": {"type": "http", "url": "https://example.org/mcp", "headers": {"Authorization": "${KEY}"}},
    }
}
GEMINI = {
    "theme": "dark",
    "mcpServers": {
        "files": {
            "command": "npx",
            "args": ["-y", "files"],
            "env": {"ROOT": "$HOME", "N": "1"},
            "trust": True,
        },
        "web": {"httpUrl": "https://example.org/mcp", "headers": {"Authorization": "$KEY"}},
    },
}
OPENCODE = {
    "$schema": "https://example.org/schema",
    "mcp": {
        "files": {
            "type": "local",
            "command": ["npx", "-y", "files"],
            "environment": {"ROOT": "{env:HOME}", "N": "1"},
        },
        "web": {
            "type": "remote",
            "url": "https://example.org/mcp",
            "headers": {"Authorization": "{env:KEY}"},
        },
    },
}
FILES = {".mcp.json": CLAUDE, ".gemini/settings.json": GEMINI, "opencode.json": OPENCODE}


@pytest.fixture
def directories(tmp_path: Path) -> Directories:
    return Directories(*(tmp_path / name for name in ("config", "data", "cache", "log")))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def put(project: Path, name: str, content: object) -> None:
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text(content if isinstance(content, str) else json.dumps(content))


def read(project: Path, directories: Directories) -> list[FoundServers]:
    trust = Trust.load(directories)
    return list(project_servers(project, lambda file: trust.trusts(project, file)))


def accept(project: Path, directories: Directories) -> None:
    trust = Trust.load(directories)
    trust.accept(trust.inventory(project))


def plain(server: FoundServer) -> tuple[object, ...]:
    section = server.section
    return (server.name, section.argv, section.env, section.url, section.headers, server.is_own)


@pytest.mark.parametrize("name", FILES)
def test_the_same_servers_are_found_in_every_form_and_only_once_trusted(
    project: Path, directories: Directories, name: str
) -> None:
    put(project, name, FILES[name])

    (before,) = read(project, directories)
    accept(project, directories)
    (after,) = read(project, directories)

    assert before == FoundServers(
        problems=(f"found MCP servers in {name}, not started: not trusted; 'coder-tui trust' decides",)
    )
    assert [plain(server) for server in after.servers] == [
        ("files", ("npx", "-y", "files"), {"ROOT": "${HOME}", "N": "1"}, "", {}, False),
        ("web", (), {}, "https://example.org/mcp", {"Authorization": "${KEY}"}, False),
    ]


@pytest.mark.parametrize("name", FILES)
def test_what_trust_would_start_is_shown_in_full(project: Path, directories: Directories, name: str) -> None:
    put(project, name, FILES[name])

    items = Trust.load(directories).inventory(project).items

    assert [(str(item.kind), item.file, item.needs_trust) for item in items] == [
        ("mcp server", name, True)
    ] * 2
    assert all(word in items[0].sentence for word in ('"files"', "npx", "-y", "ROOT"))
    assert all(word in items[1].sentence for word in ('"web"', "https://example.org/mcp", "KEY"))


def test_another_setting_in_a_shared_file_asks_nothing_and_another_command_does(
    project: Path, directories: Directories
) -> None:
    put(project, ".gemini/settings.json", GEMINI)
    accept(project, directories)

    put(project, ".gemini/settings.json", {**GEMINI, "theme": "light"})
    (same,) = read(project, directories)
    changed = {"files": {"command": "npx", "args": ["-y", "evil"]}}
    put(project, ".gemini/settings.json", {**GEMINI, "mcpServers": changed})
    (other,) = read(project, directories)

    assert [server.name for server in same.servers] == ["files", "web"]
    assert other.servers == ()
    assert not Trust.load(directories).inventory(project).is_trusted


@pytest.mark.parametrize("said", [{"excluded": ["web"]}, {"allowed": ["files"]}], ids=["excluded", "allowed"])
def test_servers_that_gemini_disables_are_off(
    project: Path, directories: Directories, said: dict[str, list[str]]
) -> None:
    put(project, ".gemini/settings.json", {**GEMINI, "mcp": said})
    accept(project, directories)
    (found,) = read(project, directories)
    assert [server.name for server in found.servers] == ["files"]


def test_comments_do_not_hide_a_server_from_the_user(project: Path, directories: Directories) -> None:
    put(project, ".mcp.json", '{"mcpServers": {"a": {"command": "x"}, /* "b": 1 */ }, // c\n}')
    items = Trust.load(directories).inventory(project).items
    accept(project, directories)

    (found,) = read(project, directories)

    assert [item.sentence for item in items] == ['starts the server "a": x']
    assert [server.name for server in found.servers] == ["a"]


def test_invalid_entries_are_reported_and_the_rest_is_used(project: Path, directories: Directories) -> None:
    strange = """{"mcpServers": {"ok": {"command": "first"}, "no": 7, "both": {"command": "x", "url": "http://y"},
        "none": {}, "ws": {"type": "ws", "url": "ws://x"}, "far": {"url": "ftp://x"}, "args": {"command": "x",
        "args": {"a": 1}}, "ok": {"command": "second"}}}"""
    put(project, ".mcp.json", strange)
    accept(project, directories)

    (found,) = read(project, directories)

    assert [(server.name, server.section.command) for server in found.servers] == [("ok", "second")]
    said = [problem.removeprefix(".mcp.json: ") for problem in found.problems]
    assert said == [
        "the server no is not used: it must be a table",
        "the server both is not used: has both command and url; keep one of them",
        "the server none is not used: it needs a command or a url",
        "the server ws is not used: the type ws is not supported; use stdio, http or sse",
        "the server far is not used: url: must begin with http:// or https://",
        "the server args is not used: args: Input should be a valid tuple",
        "ok is defined twice; the last one is used",
    ]


def test_a_file_that_is_not_json_is_reported(project: Path, directories: Directories) -> None:
    put(project, "opencode.json", "{ this is none")
    (found,) = read(project, directories)
    assert found.servers == ()
    assert found.problems[0].startswith("opencode.json is not valid JSON")


def test_servers_of_claude_code_belong_to_the_user(tmp_path: Path) -> None:
    entry = {"command": "x"}
    projects = {"/work": {"mcpServers": {"here": entry}}, "/other": {"mcpServers": {"there": entry}}}
    (tmp_path / ".claude.json").write_text(json.dumps({"mcpServers": {"all": entry}, "projects": projects}))

    found = claude_servers(tmp_path, Path("/work"))

    assert [(server.name, server.is_own) for server in found.servers] == [("all", True), ("here", True)]
    assert claude_servers(tmp_path / "nobody", Path("/work")) == FoundServers()
