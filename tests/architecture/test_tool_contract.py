"""Every tool keeps the contract: described, closed, declared, small enough together."""

import json
from pathlib import Path
from typing import Any

import pytest

from coder_tui.llm.traits import traits_of
from coder_tui.policy.rules import Effect
from coder_tui.text.redact import BY_SHAPE
from coder_tui.tools.base import Tool, ToolContext
from coder_tui.tools.builtin.todo import TodoList
from coder_tui.tools.catalog import agent_tools, builtin_tools, knowledge_tools, language_tools, memory_tools
from coder_tui.tools.contract import contract_problems
from coder_tui.tools.ports import NOBODY_THERE, NoFinisher, NoInnerCalls, NoSubagents
from coder_tui.tools.registry import Registry, definition_of
from coder_tui.web.web import SEARCH_KEY, WebSettings, open_web
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.search.records import accept_all
from tests.fakes.lsp_pools import pool_in
from tests.fakes.repository import GitRepository
from tests.fakes.shells import shell_for
from tests.fakes.skill_files import session_skills_of

SNAPSHOT = Path(__file__).with_name("tool_definitions.json")
MOST_CHARACTERS = 24_000
TOUCH_NOTHING = {"todoread", "todowrite", "question", "plan_exit", "batch", "task_finish"} | {
    *("skill", "models", "system_info")
}
# One sensible call of each tool in a folder that holds `a.txt`, new to git; a new tool needs one too.
CALLS: dict[str, dict[str, Any]] = {
    "read": {"path": "a.txt"},
    "read_many": {"paths": ["*.txt"]},
    "read_around": {"path": "a.txt", "keyword": "one"},
    "list": {},
    "file_info": {"path": "a.txt"},
    "glob": {"pattern": "*"},
    "grep": {"pattern": "one"},
    "outline": {},
    "write": {"path": "b.txt", "content": "x"},
    "create_file": {"path": "b.txt"},
    "mkdir": {"path": "b"},
    "edit": {"path": "a.txt", "old_string": "one", "new_string": "two"},
    "patch": {"patch": "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"},
    "apply_patch": {"patch": "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch"},
    "bash": {"command": "true"},
    "bash_output": {"job_id": "job_1"},
    "bash_kill": {"job_id": "job_1"},
    "fetch": {"url": "https://example.org/"},
    "websearch": {"query": "one"},
    "git_status": {},
    "git_diff": {"path": "a.txt"},
    "git_log": {},
    "git_add": {"path": "a.txt"},
    "git_commit": {"message": "x"},
    "memory": {"fact": "tests run by make check"},
    "todoread": {},
    "todowrite": {"todos": []},
    "question": {"questions": [{"question": "Which?", "options": [{"label": "a"}, {"label": "b"}]}]},
    "plan_exit": {"plan": "# Do it"},
    "task": {"agent": "general", "objective": "look around"},
    "fork": {"tasks": [{"objective": "look around"}]},
    "batch": {"calls": [{"tool": "read", "args": {"path": "a.txt"}}, {"tool": "list", "args": {}}]},
    "task_finish": {"summary": "done"},
    "lsp_diagnostics": {"path": "a.txt"},
    "lsp_definition": {"path": "a.txt", "line": 0, "character": 0},
    "lsp_hover": {"path": "a.txt", "symbol": "one"},
    "lsp_references": {"path": "a.txt", "symbol": "one"},
    "lsp_symbols": {"query": "one"},
    "skill": {"action": "list"},
    "models": {},
    "system_info": {},
    "env_var": {"name": "HOME"},
}


async def keep(items: object) -> None:
    return None


def tools(root: Path = Path("/")) -> tuple[Tool[Any], ...]:
    shell = shell_for(root)
    web = open_web(WebSettings(environ={SEARCH_KEY: "key"}), lambda url: Effect.ASK)
    workspace = Workspace(root)
    built_in = builtin_tools(
        workspace, shell, TodoList("s", keep), Path("/nowhere"), web, accept_all, NOBODY_THERE
    )
    subagents = NoSubagents({"general": "Carries out one task"})
    knowing = knowledge_tools(workspace, shell, session_skills_of(), {}, BY_SHAPE)
    speaking = language_tools(workspace, pool_in(root))
    remembering = memory_tools(workspace, root / "own", BY_SHAPE, None, reads_project=False)
    acting = agent_tools(subagents, NoInnerCalls(), NoFinisher())
    return (*built_in, *speaking, *knowing, *remembering, *acting)


@pytest.mark.parametrize("tool", tools(), ids=lambda tool: tool.name)
def test_it_is_named_described_and_closed(tool: Tool[Any]) -> None:
    assert contract_problems(tool) == ()


@pytest.mark.parametrize("tool", tools(), ids=lambda tool: tool.name)
async def test_a_call_declares_what_it_touches(
    tool: Tool[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call with a path or a command names it, whether it only looks or not."""
    if tool.name.startswith("git_"):
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        repository = GitRepository(tmp_path, tmp_path / "home")
        repository.put("staged.txt", "one\n")
        repository.git("add", "staged.txt")
    (tmp_path / "a.txt").write_text("one\n")
    here = next(made for made in tools(tmp_path) if made.name == tool.name)
    access = await here.access(here.params.model_validate(CALLS[tool.name]), ToolContext("s", "c", tmp_path))
    targets = access.targets if access else ()
    assert bool(targets) == (tool.name not in TOUCH_NOTHING)
    assert any(target.writes for target in targets) == tool.kind.mutates


def definitions() -> dict[str, object]:
    return {tool.name: definition_of(tool) for tool in tools()}


def test_definitions_are_as_agreed() -> None:
    """A change of what models see is a decision: renew the file and look at the difference."""
    assert json.loads(SNAPSHOT.read_text(encoding="utf-8")) == json.loads(json.dumps(definitions()))


def test_all_definitions_together_stay_small() -> None:
    offered = Registry(tools()).definitions(traits_of("anthropic/claude"))
    assert len(json.dumps(offered)) < MOST_CHARACTERS
