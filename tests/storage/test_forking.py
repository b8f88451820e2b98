"""A fork has the earlier messages, and leaves the original unchanged."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from coder_tui.protocol.access import Mode, ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import StorageError
from coder_tui.protocol.messages import AssistantMessage, ToolCall, ToolMessage, Usage, UserMessage
from coder_tui.protocol.outcomes import Outcome
from coder_tui.protocol.subagents import ChildState
from coder_tui.protocol.todos import TodoItem, TodoPriority, TodoStatus
from coder_tui.storage.records import FinishedCall
from coder_tui.storage.store import CallRecord, Store, StoredProfile

TODO = TodoItem("1", "round", TodoStatus.PENDING, TodoPriority.HIGH)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(tmp_path / "store.db")
    yield opened
    await opened.close()


async def _call(store: Store, session_id: str, call_id: str, message_id: str, tool: str = "bash") -> None:
    await store.messages.add(
        session_id, AssistantMessage(message_id, "", calls=(ToolCall(call_id, tool, "{}"),))
    )
    await store.calls.begin(session_id, CallRecord(call_id, message_id, tool, "{}", "ls", ToolKind.EXECUTE))
    answer = ToolMessage(f"t-{call_id}", call_id, tool, "{}")
    ended = FinishedCall(call_id, tool, Outcome.OK, "ls: done", TextBlock("done"), 5, answer)
    await store.calls.finish(session_id, ended)


async def _talk(store: Store) -> str:
    """Store two turns with a call each; the second made a plan and a todo."""
    info = await store.sessions.create("/w", "openai/x", Mode.EDITS)
    await store.sessions.rename(info.id, "prices")
    await store.turns.begin(info.id, 1)
    await store.messages.add(info.id, UserMessage("u1", "first"))
    await _call(store, info.id, "c1", "a1")
    await store.turns.begin(info.id, 2)
    await store.messages.add(info.id, UserMessage("u2", "second"))
    await _call(store, info.id, "c2", "a2", "plan_exit")
    await store.todos.set(info.id, (TODO,))
    await store.profiles.set_plan(info.id, "the plan")
    await store.profiles.set_profile(info.id, "explore")
    await store.compactions.add_pin(info.id, "mind the gap")
    await store.usage.add(info.id, "a1", "openai/x", Usage(5, cost=1.0))
    return info.id


async def test_a_fork_of_everything_is_the_same_conversation_at_no_cost(store: Store) -> None:
    session_id = await _talk(store)
    await store.compactions.add(session_id, "t-c1", "what was", frozenset({"c1"}))
    original = await store.load(session_id)
    fork = await store.forks.create(session_id)
    copied = await store.load(fork.id)
    assert (fork.title, fork.directory, fork.mode, fork.cost) == ("fork of prices", "/w", Mode.EDITS, None)
    unpaid = replace(original, usage=Usage(), last_costs={})
    assert replace(copied, info=original.info) == unpaid
    assert await store.profiles.get(fork.id) == StoredProfile("explore", "the plan")
    assert await store.compactions.pins(fork.id) == ("mind the gap",)
    assert (await store.turns.list(fork.id), await store.decisions.list(fork.id)) == ((), ())
    assert await store.load(session_id) == original
    assert [info.id for info in await store.sessions.list()] == [fork.id, session_id]


async def test_a_fork_before_a_message_holds_nothing_from_there_on(store: Store) -> None:
    session_id = await _talk(store)
    await store.compactions.add(session_id, "t-c2", "all of it", frozenset())
    fork = await store.load((await store.forks.create(session_id, "u2")).id)
    original = await store.load(session_id)
    assert fork.messages == original.messages[:3]
    assert (tuple(fork.calls), fork.todos, fork.compactions, fork.last_turn) == (("c1",), (), (), 1)
    assert await store.profiles.get(fork.info.id) == StoredProfile("explore", "")


async def test_a_fork_before_the_first_message_is_empty(store: Store) -> None:
    session_id = await _talk(store)
    fork = await store.load((await store.forks.create(session_id, "u1")).id)
    assert (fork.info.message_count, fork.messages, fork.calls, fork.last_turn) == (0, (), {}, 0)


async def test_undone_messages_are_not_forked(store: Store) -> None:
    session_id = await _talk(store)
    await store.turns.hide_messages(session_id, 2, (TODO,))
    fork = await store.load((await store.forks.create(session_id)).id)
    assert [message.id for message in fork.messages] == ["u1", "a1", "t-c1"]
    with pytest.raises(StorageError, match="no longer part of the session"):
        await store.forks.create(session_id, "u2")


async def test_forks_have_numbers_and_none_is_a_fork_of_a_fork(store: Store) -> None:
    session_id = await _talk(store)
    first = await store.forks.create(session_id)
    second = await store.forks.create(first.id)
    third = await store.forks.create(session_id, "u2")
    untitled = await store.forks.create((await store.sessions.create("/w", "m", Mode.ASK)).id)
    assert [info.title for info in (first, second, third, untitled)] == [
        "fork of prices",
        "fork 2 of prices",
        "fork 3 of prices",
        "fork of an untitled session",
    ]


async def test_sub_agents_are_copied_and_survive_the_original(store: Store) -> None:
    session_id = await _talk(store)
    child = await store.subagents.add(session_id, "c1", "explore", "look", "openai/x")
    await store.messages.add(child, AssistantMessage("a1", "an otter"))
    await store.subagents.end(child, ChildState.OK, "seen", 3)
    late = await store.subagents.add(session_id, "c2", "explore", "look later", "openai/x")
    fork = await store.forks.create(session_id, "u2")
    await store.sessions.delete(session_id)
    (copy,) = await store.subagents.list(fork.id)
    assert (copy.agent, copy.task, copy.state, copy.summary) == ("explore", "look", ChildState.OK, "seen")
    assert [
        message.text for message in (await store.load(copy.child_id)).messages if message.role != "tool"
    ] == ["an otter"]
    assert late != copy.child_id
