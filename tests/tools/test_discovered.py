"""Tools that a command lists: every form of a declaration, every way to fail, and real calls."""

import json
from pathlib import Path

import pytest

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import ToolContext
from coder_tui.tools.discovered import (
    MOST_TOOLS,
    PREFIX,
    DiscoveredTool,
    DiscoveryCommands,
    discover,
    read_declarations,
)
from coder_tui.tools.registry import definition_of
from tests.fakes.shells import shell_for

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
ECHO = {"name": "echo", "description": "Says it again.", "parametersJsonSchema": SCHEMA}


def put(root: Path, name: str, script: str) -> str:
    path = root / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    "printed",
    [
        [ECHO],
        {"function_declarations": [ECHO]},
        [{"functionDeclarations": [ECHO]}],
        [{"name": "echo", "description": "Says it again.", "parameters": SCHEMA}],
        [{"name": "echo", "description": "Says it again.", "inputSchema": SCHEMA}],
        [{"type": "function", "function": ECHO}],
        [{**ECHO, "parametersJsonSchema": {**SCHEMA, "type": "OBJECT"}}],
    ],
    ids=["bare", "wrapped", "camel", "parameters", "inputSchema", "openai", "capitals"],
)
def test_every_form_of_a_declaration_is_read(printed: object) -> None:
    declared = read_declarations(json.dumps(printed))
    assert declared.problems == ()
    (echo,) = declared.declarations
    assert (echo.name, echo.own_name, echo.description) == ("discovered_tool_echo", "echo", "Says it again.")
    assert echo.params.model_json_schema() == SCHEMA


@pytest.mark.parametrize(
    ("printed", "problem"),
    [
        ("garbage", "it did not print JSON (Expecting value: line 1 column 1 (char 0))"),
        ("3", "it did not print a list of tools"),
        ("[" * 100_000, "it did not print JSON ("),
        ('[{"description": "x"}]', "tool 1: it has no name"),
        ('["x"]', "tool 1: it is not a declaration"),
        ('[{"name": "x", "parameters": "no"}]', "tool 1: x: its schema is not an object but str"),
        ('[{"name": "x", "parameters": {"type": "string"}}]', "tool 1: x: its schema has the type 'string'"),
        ('[{"name": "a"}, {"name": "a"}]', "tool 2: the name a is taken"),
    ],
    ids=["garbage", "number", "deep", "nameless", "text", "no-schema", "no-object", "twice"],
)
def test_invalid_declarations_are_reported(printed: str, problem: str) -> None:
    (found,) = read_declarations(printed).problems
    assert found.startswith(problem)


def test_one_bad_declaration_leaves_the_others(tmp_path: Path) -> None:
    declared = read_declarations(json.dumps([{"name": 7}, ECHO]))
    assert [each.own_name for each in declared.declarations] == ["echo"]
    assert declared.problems == ("tool 1: it has no name",)


def test_names_fit_every_provider_and_too_many_are_cut() -> None:
    names = ["read", "ä b", "x" * 200, *(f"t{number}" for number in range(200))]
    declared = read_declarations(json.dumps([{"name": name} for name in names]))
    assert len(declared.declarations) == MOST_TOOLS
    assert declared.declarations[0].name == "discovered_tool_read"
    assert all(len(each.name) <= 64 and each.name.startswith(PREFIX) for each in declared.declarations)
    assert declared.problems == (f"there are more than {MOST_TOOLS} tools; the rest are left out",)


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("echo nothing", "it did not print JSON"),
        ("sleep 60", "it took too long and was stopped"),
        ("yes", "it printed too much and was stopped"),
        ("kill -SEGV $$", "it was ended by SIGSEGV"),
        ("echo no such thing >&2; exit 3", "it ended with exit code 3: no such thing"),
    ],
    ids=["garbage", "hangs", "floods", "signal", "fails"],
)
async def test_a_failing_command_is_one_problem(tmp_path: Path, script: str, problem: str) -> None:
    limit = 0.5 if script.startswith("sleep") else 30.0
    commands = DiscoveryCommands(put(tmp_path, "find", script), "call", limit)
    declared = await discover(commands, shell_for(tmp_path))
    assert declared.declarations == ()
    assert declared.problems[0].startswith(problem)


async def test_without_a_calling_command_nothing_is_run(tmp_path: Path) -> None:
    script = put(tmp_path, "find", f"touch {tmp_path}/ran")
    declared = await discover(DiscoveryCommands(script, ""), shell_for(tmp_path))
    assert declared.problems == ("tools.call_command is not set, so no tool could be called",)
    assert not (tmp_path / "ran").exists()


async def made(root: Path, script: str, limit: float = 20.0) -> DiscoveredTool:
    commands = DiscoveryCommands("find", put(root, "call", script), call_limit=limit)
    (echo,) = read_declarations(json.dumps([ECHO])).declarations
    return DiscoveredTool(echo, commands, shell_for(root))


async def test_a_call_gets_its_name_and_its_arguments(tmp_path: Path) -> None:
    tool = await made(tmp_path, 'echo "$1: $(cat)"; echo working >&2')
    params, heard = tool.params.model_validate({"text": "hällo", "more": [1]}), list[str]()
    result = await tool.run(params, ToolContext("s", "c", tmp_path, progress=heard.append))
    assert result.for_model == {"ok": True, "stdout": 'echo: {"text": "hällo", "more": [1]}\n'}
    assert "".join(heard) == "working\n"
    shown = {"name": "discovered_tool_echo", "description": "Says it again.", "parameters": SCHEMA}
    assert definition_of(tool) == {"type": "function", "function": shown}
    access = await tool.access(params, ToolContext("s", "c", tmp_path))
    assert (access.targets, access.sandbox) == ((), "none: a test wants it so")


@pytest.mark.parametrize(
    ("script", "kind", "fields"),
    [
        ("echo out; echo no >&2; exit 4", "discovered_tool_error", (4, None, "out\n", "no\n")),
        ("kill -TERM $$", "discovered_tool_error", (143, "SIGTERM", "", "Terminated\n")),
        ("sleep 60", "timeout", (124, None, "", "")),
    ],
    ids=["code", "signal", "hangs"],
)
async def test_a_failing_call_tells_code_signal_and_output(
    tmp_path: Path, script: str, kind: str, fields: tuple[object, ...]
) -> None:
    tool = await made(tmp_path, script, 1.5 if "sleep" in script else 20.0)
    with pytest.raises(ToolError) as caught:
        await tool.run(tool.params.model_validate({"text": "x"}), ToolContext("s", "c", tmp_path))
    assert caught.value.type is ErrorType(kind)
    assert tuple(caught.value.fields[name] for name in ("exit_code", "signal", "stdout", "stderr")) == fields


async def test_arguments_are_checked_against_the_schema(tmp_path: Path) -> None:
    tool = await made(tmp_path, "cat")
    with pytest.raises(ValueError, match="text: Field required"):
        tool.params.model_validate({})
    with pytest.raises(ValueError, match="text: must be of type string"):
        tool.params.model_validate({"text": 3})
