"""`coder-tui mcp`: adds, lists, tests and removes servers. A project's servers do not start before trust."""

import json
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from coder_tui.cli.main import run_command
from tests.fakes.mcp_pools import FAKE, tool

Out = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"CODER_TUI_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def command(project: Path) -> list[str]:
    """A server that says hello, and before that to the log that it runs."""
    state = project / "state.json"
    state.write_text(json.dumps({"tools": [tool("hello", "Says hello.")]}))
    script = project / "server.sh"
    # Of /tmp, where these files may lie, a confined server sees the workspace alone.
    fake, python = shutil.copy(FAKE, project), Path(sys.executable).resolve()
    script.write_text(f"#!/bin/sh\necho started >&2\nexec {python} {fake} {state}\n")
    script.chmod(0o755)
    return [str(script)]


def is_started(project: Path) -> bool:
    log = project.parent / "data" / "log" / "mcp.log"
    return log.exists() and "started" in log.read_text()


def listed(out: Out) -> list[dict[str, object]]:
    out.readouterr()
    assert run_command(["mcp", "list", "--json"]) == 0
    servers: list[dict[str, object]] = json.loads(out.readouterr().out)["servers"]
    return servers


@pytest.mark.parametrize("name", ["config.toml", "config.json"])
def test_the_only_server_is_removed_and_another_one_added(tmp_path: Path, name: str) -> None:
    file = tmp_path / "config" / name
    file.parent.mkdir()
    file.write_text("" if name.endswith("toml") else "{}")
    for command in (["add", "a", "--", "x"], ["remove", "a"], ["add", "b", "--", "x"], ["remove", "b"]):
        assert run_command(["mcp", *command]) == 0
    assert file.read_text().strip() in ("", "{}")


def test_a_server_is_added_to_the_users_settings_and_removed(tmp_path: Path, capsys: Out) -> None:
    file = tmp_path / "config" / "config.toml"
    file.parent.mkdir()
    file.write_text("# mine\n[ui]\nmotion = false\n")

    more = ["--env", "A=b=c", "--writable", "docs"]
    assert run_command(["mcp", "add", "files", *more, "--", "npx", "-y", "files"]) == 0
    assert run_command(["mcp", "add", "web", "https://example.org/mcp", "--header", "X=${KEY}"]) == 0
    written = file.read_text()
    names = [(server["name"], server["state"]) for server in listed(capsys)]
    assert run_command(["mcp", "remove", "files"]) == 0

    assert written.startswith("# mine\n[ui]\nmotion = false\n")
    assert tomllib.loads(written)["mcp"] == {
        "files": {"command": "npx", "args": ["-y", "files"], "env": {"A": "b=c"}, "writable": ["docs"]},
        "web": {"url": "https://example.org/mcp", "headers": {"X": "${KEY}"}},
    }
    assert names == [("files", "on"), ("web", "unusable")]
    assert [server["name"] for server in listed(capsys)] == ["web"]


def test_a_server_for_everyone_goes_into_the_shared_file(project: Path, capsys: Out) -> None:
    (project / ".mcp.json").write_text('{"note": 1, "mcpServers": {}}')
    assert run_command(["mcp", "add", "--project", "web", "https://example.org/mcp"]) == 0
    assert json.loads((project / ".mcp.json").read_text()) == {
        "note": 1,
        "mcpServers": {"web": {"type": "http", "url": "https://example.org/mcp"}},
    }
    assert listed(capsys) == []
    assert run_command(["trust", "--yes"]) == 0
    assert [(server["name"], server["state"]) for server in listed(capsys)] == [("web", "on")]
    assert run_command(["mcp", "remove", "--project", "web"]) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["mcp", "add", "x"], "no command or URL given"),
        (["mcp", "add", "x", "https://a.b", "more"], "unexpected more after the address"),
        (["mcp", "add", "x", "ftp://a.b"], "begin with http"),
        (["mcp", "add", "a b", "--", "y"], "must not contain spaces or colons"),
        (["mcp", "add", "Project", "--", "y"], "is reserved for your own commands"),
        (["mcp", "add", "x", "--env", "novalue", "--", "y"], "expected NAME=VALUE"),
        (["mcp", "add", "x", "--transport", "sse", "--", "y"], 'needs transport "stdio", not "sse"'),
        (
            ["mcp", "add", "x", "--project", "--writable", ".", "--", "y"],
            "each user grants write access in their own settings",
        ),
        (["mcp", "remove", "x"], "has no server x"),
        (["mcp", "test", "x"], "there is no MCP server x"),
    ],
    ids=[
        "nothing",
        "too much",
        "scheme",
        "name",
        "reserved",
        "no value",
        "transport",
        "writable",
        "remove",
        "test",
    ],
)
def test_mistakes_are_reported_and_nothing_is_written(
    tmp_path: Path, capsys: Out, arguments: list[str], words: str
) -> None:
    assert run_command(arguments) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "config" / "config.toml").exists()


def test_the_same_name_twice_is_refused(capsys: Out) -> None:
    assert run_command(["mcp", "add", "x", "y"]) == 0
    assert run_command(["mcp", "add", "x", "z"]) == 2
    assert "already has a server x" in capsys.readouterr().err


@pytest.mark.parametrize("name", [".mcp.json", ".gemini/settings.json", "opencode.json"])
def test_a_projects_server_runs_once_it_is_trusted_and_not_before(
    project: Path, capsys: Out, command: list[str], name: str
) -> None:
    entry = {"type": "local", "command": command} if name == "opencode.json" else {"command": command[0]}
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text(
        json.dumps({"mcp" if name == "opencode.json" else "mcpServers": {"s": entry}})
    )

    assert run_command(["mcp", "test", "--json"]) == 0
    before, was_started = json.loads(capsys.readouterr().out), is_started(project)
    assert run_command(["tool", "call", "mcp__s__hello", "{}"]) == 1
    assert not is_started(project)
    assert run_command(["trust", "--yes"]) == 0
    capsys.readouterr()
    assert run_command(["mcp", "test", "--json"]) == 0
    (after,) = json.loads(capsys.readouterr().out)
    assert run_command(["tool", "list"]) == 0
    assert "mcp__s__hello" in capsys.readouterr().out.splitlines()[-1]

    assert (before, was_started) == ([], False)
    assert (after["name"], after["state"], after["tools"]) == ("s", "ready", ["hello"])
    assert is_started(project)


def test_a_users_server_waits_until_the_folder_is_trusted(
    project: Path, capsys: Out, command: list[str]
) -> None:
    assert run_command(["mcp", "add", "own", "--", *command]) == 0
    (project / ".mcp.json").write_text('{"mcpServers": {"other": {"command": "x"}}}')
    assert [(server["name"], server["state"]) for server in listed(capsys)] == [("own", "waits")]
    assert run_command(["mcp", "test"]) == 1
    assert "that you have not trusted" in capsys.readouterr().out
    assert not is_started(project)
