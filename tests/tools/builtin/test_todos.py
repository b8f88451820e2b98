"""`todowrite` and `todoread`: one list, replaced as a whole, live on the screen and stored."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.protocol.events import TodosChanged
from coder_tui.protocol.todos import TodoItem, TodoPriority, TodoStatus
from coder_tui.storage.store import Store
from coder_tui.tools.arguments import parse_call
from coder_tui.tools.base import ToolContext
from coder_tui.tools.builtin.todo import TodoList, TodoReadTool, TodoWriteTool
from coder_tui.tools.registry import description_of
from tests.fakes.real_tools import setup_in
from tests.fakes.scripted_model import Say, ScriptedModel

CONTEXT = ToolContext("s1", "c1", Path("/srv"))


def todo(id: str, status: str = "pending", **changes: Any) -> dict[str, Any]:
    return {"id": id, "content": f"do {id}", "status": status, "priority": "high", **changes}


class Saved(list[tuple[TodoItem, ...]]):
    async def save(self, items: tuple[TodoItem, ...]) -> None:
        self.append(items)


async def written(todos: TodoList, *items: dict[str, Any]) -> dict[str, Any]:
    tool, params = parse_call(TodoWriteTool(todos), json.dumps({"todos": items}))
    return (await tool.run(params, CONTEXT)).for_model


async def test_the_whole_list_is_replaced_and_returned_by_both_tools() -> None:
    saved = Saved()
    todos = TodoList("s1", saved.save)
    await written(todos, todo("a"), todo("b"))
    fields = await written(todos, todo("b", "completed"), todo("c", "in_progress"))
    read = await TodoReadTool(todos).run(TodoReadTool.params(), CONTEXT)
    assert fields == read.for_model
    assert fields == {
        "ok": True,
        "session_id": "s1",
        "items": [todo("b", "completed"), todo("c", "in_progress")],
        "count": 2,
        "in_progress": "c",
    }
    assert [len(items) for items in saved] == [2, 2]


async def test_an_empty_list_clears() -> None:
    todos = TodoList("s1", Saved().save)
    await written(todos, todo("a"))
    assert (await written(todos))["items"] == []


BAD: dict[str, tuple[list[dict[str, Any]], str]] = {
    "two in progress": (
        [todo("a", "in_progress"), todo("b", "in_progress")],
        "only one item may be in_progress",
    ),
    "same id": ([todo("a"), todo("a")], "two items have the same id"),
    "status": (
        [todo("a", "done")],
        "todos.0.status: Input should be 'pending', 'in_progress' or 'completed'",
    ),
    "priority": (
        [todo("a", priority="urgent")],
        "todos.0.priority: Input should be 'high', 'medium' or 'low'",
    ),
    "no content": ([todo("a", content="")], "todos.0.content: String should have at least 1 character"),
    "a megabyte": ([todo("a", content="x" * 1_000_000)], "todos.0.content: String should have at most 2000"),
    "a thousand": (
        [todo(str(number)) for number in range(1000)],
        "todos: List should have at most 200 items",
    ),
    "unknown field": ([todo("a", owner="me")], "todos.0.owner: Extra inputs"),
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_list_can_be_repaired_and_changes_nothing(name: str) -> None:
    items, said = BAD[name]
    saved = Saved()
    with pytest.raises(ToolError) as caught:
        await written(TodoList("s1", saved.save), *items)
    assert caught.value.type is ErrorType.INVALID_TOOL_PARAMS
    assert caught.value.message.startswith("invalid args: ")
    assert said in caught.value.message
    assert saved == []


def test_descriptions_tell_when_not_to_use_them() -> None:
    todos = TodoList("s1", Saved().save)
    assert "Do not make a list for a one-step task" in description_of(TodoWriteTool(todos))
    assert "never in a fresh session" in description_of(TodoReadTool(todos))


async def test_the_list_is_announced_and_kept_across_a_resume(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    setup = setup_in(tmp_path, tmp_path / "project", Mode.ASK)
    model = ScriptedModel([Say(calls=(("todowrite", {"todos": [todo("a", "in_progress")]}),)), Say("done")])
    core = SessionFactory(setup, await Store.open(setup.directories.database), model, ModelChoice("scripted"))
    session = await core.new_session()
    heard: list[TodosChanged] = []
    session.subscribe(lambda event: heard.append(event) if isinstance(event, TodosChanged) else None)
    await session.submit("go")
    await session.close()
    item = TodoItem("a", "do a", TodoStatus.IN_PROGRESS, TodoPriority.HIGH)
    assert heard == [TodosChanged((item,))]
    reading = ScriptedModel([Say(calls=(("todoread", {}),)), Say("done")])
    later = await replace(core, client=reading).resume(session.id)
    assert TodosChanged((item,)) in later.history()
    await later.submit("and now?")
    results = [message.content for message in reading.requests[-1].messages if message.role == "tool"]
    assert json.loads(results[-1])["items"] == [todo("a", "in_progress")]
    await later.close()
    await core.close()
