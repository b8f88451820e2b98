"""MCP servers in the whole program: a model calls their tools, the user allows or stops that."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.mcp_pools import FAKE, NODE, POISON, needs_reference_servers, tool, wait_for_file
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import PROGRAM, Program
from tests.fakes.script import Call, Reply
from tests.fakes.tmux import Tmux, needs_tmux


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program.in_folder(tmp_path)


def settings(program: Program, text: str) -> None:
    folder = program.home / ".config" / "coder-tui"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(text)


def results(request: Mapping[str, object]) -> list[dict[str, Any]]:
    """What the tools answered, as a request has it."""
    messages = request["messages"]
    assert isinstance(messages, list)
    return [json.loads(message["content"]) for message in messages if message["role"] == "tool"]


def names(request: Mapping[str, object]) -> list[str]:
    tools = request["tools"]
    assert isinstance(tools, list)
    return [each["function"]["name"] for each in tools]


def processes_of(folder: Path) -> list[str]:
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if str(folder) in line and "mcp" in line]


@needs_reference_servers
def test_a_model_calls_a_trusted_projects_server_and_none_is_left(program: Program) -> None:
    entry = {"command": str(NODE / "mcp-server-everything"), "args": ["stdio", str(program.project)]}
    (program.project / ".mcp.json").write_text(json.dumps({"mcpServers": {"everything": entry}}))
    settings(program, '[permission]\n"mcp__everything__echo" = "allow"\n')
    script = [
        Reply(
            calls=(
                Call("mcp__everything__echo", {"message": "hi"}),
                Call("mcp__everything__get-sum", {"a": 1, "b": 2}),
            )
        ),
        Reply(text="Done."),
    ]
    assert program.run("trust", "--yes").returncode == 0
    with OpenAIServer(script) as server:
        done = program.run("run", "-p", "go", "--model", "openai/x", "--api-base", server.url)
    offered, received = names(server.requests[0]), results(server.requests[1])
    assert (done.returncode, done.stdout.strip()) == (3, "Done.")
    assert offered[-13:] == [name for name in offered if name.startswith("mcp__everything__")]
    assert received[0]["content"] == "Echo: hi"
    assert received[1]["error"]["type"] == "permission_denied"
    assert processes_of(program.project) == []


@needs_tmux
def test_a_poisoned_server_is_shown_literally_and_stopped_by_a_key(program: Program) -> None:
    state = program.home / "state.json"
    state.write_text(json.dumps({"words": POISON, "tools": [tool("read"), tool("hang")]}))
    command = json.dumps([sys.executable, str(FAKE), str(state)])
    settings(program, f'[mcp.stranger]\ncommand = {command}\nsandbox = "off"\n')
    script = [
        Reply(calls=(Call("mcp__stranger__read", {"path": "a"}),)),
        Reply(calls=(Call("mcp__stranger__hang", {}),)),
        Reply(text="Finished."),
    ]
    with OpenAIServer(script) as server:
        started = f"{PROGRAM} --model openai/x --api-base {server.url}"
        with Tmux(started, program.project, program.environment, 110, 34) as tmux:
            tmux.shows(r"ASK  (openai/)?x")
            tmux.type("/mcp")
            tmux.keys("Enter")
            tmux.shows(r"stranger\s+ready, 2 tools")
            tmux.keys("Escape")
            tmux.shows(r"^(?![\s\S]*ready, 2 tools)")
            tmux.type("do it")
            tmux.keys("Enter")
            asked = tmux.shows(r"Allow mcp__stranger__read\?[\s\S]*stranger[\s\S]*ready")
            tmux.keys("C-y")
            tmux.shows(r"Allow mcp__stranger__hang\?[\s\S]*ready")
            tmux.keys("C-y")
            number = wait_for_file(state.with_suffix(".hanging"))
            tmux.shows(r"running \d+s")  # right behind a dialog the key would still be that one's
            tmux.keys("Escape")
            wait_for_file(state.with_suffix(f".cancelled-{number}"))
            tmux.keys("C-o")
            shown = tmux.shows(r"Ignore all rules")
    assert '"path": "a"' in asked
    assert "[@click=app.quit]x[/]" in shown
    assert results(server.requests[1])[0]["content"] == POISON
    assert processes_of(state) == []
