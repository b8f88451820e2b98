"""Every tool keeps the contract: described, closed, declared, small enough together."""

import json
from pathlib import Path
from typing import Any

import pytest

from coder_tui.llm.traits import traits_of
from coder_tui.protocol.access import ToolKind
from coder_tui.tools.base import Tool
from coder_tui.tools.builtin.bash import BashLimits
from coder_tui.tools.builtin.todos import TodoList
from coder_tui.tools.catalogue import builtin_tools
from coder_tui.tools.descriptions import description_of
from coder_tui.tools.registry import Registry, definition_of
from coder_tui.workspace.confine import Workspace

SNAPSHOT = Path(__file__).with_name("tool_definitions.json")
MOST_CHARACTERS = 24_000


async def keep(items: object) -> None:
    return None


def tools() -> tuple[Tool[Any], ...]:
    return builtin_tools(Workspace(Path("/")), BashLimits("/bin/sh", 120_000, 30_000), TodoList("s", keep))


@pytest.mark.parametrize("tool", tools(), ids=lambda tool: tool.name)
def test_the_description_fills_and_is_not_empty(tool: Tool[Any]) -> None:
    text = description_of(tool)
    assert text
    assert "${" not in text


@pytest.mark.parametrize("tool", tools(), ids=lambda tool: tool.name)
def test_unknown_keys_are_refused(tool: Tool[Any]) -> None:
    assert tool.params.model_json_schema()["additionalProperties"] is False
    assert tool.params.model_config["frozen"] is True


@pytest.mark.parametrize("tool", tools(), ids=lambda tool: tool.name)
def test_a_tool_that_changes_something_declares_it(tool: Tool[Any]) -> None:
    if tool.kind.mutates:
        assert type(tool).access is not Tool.access
        assert tool.permission in {"edit", "bash"}
    else:
        assert tool.kind in ToolKind


def definitions() -> dict[str, object]:
    return {tool.name: definition_of(tool) for tool in tools()}


def test_definitions_are_as_agreed() -> None:
    """A change of what models see is a decision: write the file anew with it, and look at the difference."""
    assert json.loads(SNAPSHOT.read_text(encoding="utf-8")) == json.loads(json.dumps(definitions()))


def test_all_definitions_together_stay_small() -> None:
    offered = Registry(tools()).definitions(traits_of("anthropic/claude"))
    assert len(json.dumps(offered)) < MOST_CHARACTERS
