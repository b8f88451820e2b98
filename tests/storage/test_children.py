"""Sub-agents in the store belong to their session and are found only through it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import StorageError
from coder_tui.protocol.messages import Usage, UserMessage
from coder_tui.protocol.subagents import ChildLine, ChildState
from coder_tui.storage.session_state import LOST
from coder_tui.storage.store import Store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(tmp_path / "store.db")
    yield opened
    await opened.close()


async def test_sub_agents_are_listed_by_call_and_in_order(store: Store) -> None:
    parent = (await store.sessions.create("/w", "m", Mode.ASK)).id
    first = await store.subagents.add(parent, "c1", "explore", "look around", "m")
    second = await store.subagents.add(parent, "c1", "general", "do it", "m2")
    third = await store.subagents.add(parent, "c2", "verify", "check", "m")
    await store.usage.add(second, "x", "m2", Usage(10, 5, cost=0.25))
    await store.subagents.end(second, ChildState.OK, "done", 12)
    assert (await store.load(parent)).children == {
        "c1": (
            ChildLine(first, "explore", "look around"),
            ChildLine(second, "general", "do it", ChildState.OK, summary="done", seconds=12, cost=0.25),
        ),
        "c2": (ChildLine(third, "verify", "check"),),
    }


async def test_a_child_is_not_listed_among_sessions_but_can_be_read(store: Store) -> None:
    parent = await store.sessions.create("/w", "m", Mode.PLAN)
    child = await store.subagents.add(parent.id, "c1", "explore", "look around", "m2")
    await store.messages.add(child, UserMessage("u", "look around"))
    stored = await store.load(child)
    assert (stored.messages, stored.info.model, stored.info.mode) == (
        (UserMessage("u", "look around"),),
        "m2",
        Mode.PLAN,
    )
    assert [info.id for info in await store.sessions.list()] == [parent.id]
    assert await store.messages.sent_before("/w", 10) == ()
    assert (await store.sessions.get(child)).title == "look around"


async def test_the_beginning_of_an_id_does_not_find_a_child(store: Store) -> None:
    parent = (await store.sessions.create("/w", "m", Mode.ASK)).id
    child = await store.subagents.add(parent, "c1", "explore", "x", "m")
    with pytest.raises(StorageError):
        await store.sessions.get(child[:-1])


async def test_children_go_with_their_session(store: Store) -> None:
    parent = (await store.sessions.create("/w", "m", Mode.ASK)).id
    child = await store.subagents.add(parent, "c1", "explore", "x", "m")
    await store.sessions.delete(parent)
    with pytest.raises(StorageError):
        await store.sessions.get(child)


async def test_after_a_crash_no_sub_agent_counts_as_running(store: Store) -> None:
    parent = (await store.sessions.create("/w", "m", Mode.ASK)).id
    child = await store.subagents.add(parent, "c1", "explore", "x", "m")
    await store.close_unfinished(parent)
    assert (await store.load(parent)).children["c1"] == (
        ChildLine(child, "explore", "x", ChildState.STOPPED, summary=LOST),
    )
