"""`models`, `system_info` and `env_var` report facts, and no secrets."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from coder_tui.llm.catalog import KNOWN_MODELS
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.text.redact import Redactor
from coder_tui.tools.arguments import parse_call
from coder_tui.tools.base import JsonObject, Tool, ToolContext
from coder_tui.tools.builtin.environment import EnvVarTool, ModelsTool, SystemInfoTool
from coder_tui.workspace.files.confine import Workspace
from tests.fakes.repository import GitRepository

KEY = "sk-ant-0123456789abcdefghij"
ENVIRON = {
    "EDITOR": "vim",
    "ANTHROPIC_API_KEY": KEY,
    "EMPTY": "",
    "COPIED": f"Bearer {KEY}",
    "SERVICE": "postgres://me:hunter2secret@db.example/x",
    "TERM": "xterm-256color",
    "TERM_PROGRAM": "tmux",
}


async def run(tool: Tool[Any], here: Path = Path("/"), **arguments: object) -> JsonObject:
    _, params = parse_call(tool, json.dumps(arguments))
    return (await tool.run(params, ToolContext("s", "c", here))).for_model


@pytest.mark.parametrize(
    ("name", "rest"),
    [
        ("EDITOR", {"set": True, "value": "vim"}),
        ("EMPTY", {"set": True, "value": ""}),
        ("MISSING", {"set": False, "value": None}),
        ("ANTHROPIC_API_KEY", {"set": True}),
        ("MY_TOKEN", {"set": False, "value": None}),
        ("COPIED", {"set": True, "value": "Bearer [redacted]"}),
        ("SERVICE", {"set": True, "value": "postgres://[redacted]@db.example/x"}),
    ],
)
async def test_a_variable_is_returned_but_a_secret_is_not(name: str, rest: JsonObject) -> None:
    tool = EnvVarTool(ENVIRON, Redactor(ENVIRON))

    assert await run(tool, name=name) == {"ok": True, "name": name, **rest}


@pytest.mark.parametrize("name", ["", "A=B", "A\0B", "x" * 300])
def test_an_invalid_name_is_refused(name: str) -> None:
    with pytest.raises(ToolError) as refused:
        parse_call(EnvVarTool(ENVIRON, Redactor({})), json.dumps({"name": name}))
    assert refused.value.type is ErrorType.INVALID_TOOL_PARAMS


async def test_available_models_are_listed_first() -> None:
    result = await run(ModelsTool(ENVIRON, servers=()))

    first = KNOWN_MODELS[0]
    assert result["models"][0] == {
        "id": first.id,
        "provider": "Anthropic",
        "tags": ["main"],
        "context": first.context,
        "cost": {"input": first.cost_in, "output": first.cost_out},
        "available": True,
    }
    assert {model["provider"] for model in result["models"] if model["available"]} == {"Anthropic"}
    assert len(result["models"]) == len(KNOWN_MODELS)


async def test_the_machine_is_described_without_secrets(tmp_path: Path) -> None:
    project = tmp_path / "project"
    GitRepository(project, tmp_path / "home")
    tool = SystemInfoTool(Workspace(project), "/bin/sh", ENVIRON)

    result = await run(tool, project)

    assert list(result) == [
        *("ok", "os", "arch", "shell", "python", "cwd", "git", "cpu_count", "memory", "terminal", "time")
    ]
    assert (result["shell"], result["cwd"], result["terminal"]) == (
        "/bin/sh",
        str(project),
        "xterm-256color tmux",
    )
    assert result["git"]["repository"] == str(project)
    assert result["memory"]["total"] > result["memory"]["available"] > 0
    assert datetime.fromisoformat(result["time"]).tzinfo is not None
    assert KEY not in json.dumps(result)


async def test_without_git_and_a_terminal_that_is_said(tmp_path: Path) -> None:
    result = await run(SystemInfoTool(Workspace(tmp_path), "/bin/sh", {"PATH": "/nonexistent"}), tmp_path)

    assert (result["git"], result["terminal"]) == ({"program": None, "repository": None}, "none")
