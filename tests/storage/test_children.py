"""Sub-agents in the store: they hang on their session and are found through it only."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import StorageError
from coder_tui.protocol.messages import Usage, UserMessage
from coder_tui.protocol.subagents import ChildLine, ChildState
from coder_tui.storage.children import LOST
from coder_tui.storage.store import Store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(tmp_path / "store.db")
    yield opened
    await opened.close()


async def test_children_are_told_by_call_and_in_order(store: Store) -> None:
    parent = (await store.create_session("/w", "m", Mode.ASK)).id
    first = await store.add_child(parent, "c1", "explore", "look around", "m")
    second = await store.add_child(parent, "c1", "general", "do it", "m2")
    third = await store.add_child(parent, "c2", "verify", "check", "m")
    await store.add_usage(second, "x", "m2", Usage(10, 5, cost=0.25))
    await store.end_child(second, ChildState.OK, "done", 12)
    assert (await store.load(parent)).children == {
        "c1": (
            ChildLine(first, "explore", "look around"),
            ChildLine(second, "general", "do it", ChildState.OK, summary="done", seconds=12, cost=0.25),
        ),
        "c2": (ChildLine(third, "verify", "check"),),
    }


async def test_a_child_is_not_listed_among_sessions_but_can_be_read(store: Store) -> None:
    parent = await store.create_session("/w", "m", Mode.PLAN)
    child = await store.add_child(parent.id, "c1", "explore", "look around", "m2")
    await store.add_message(child, UserMessage("u", "look around"))
    stored = await store.load(child)
    assert (stored.messages, stored.info.model, stored.info.mode) == (
        (UserMessage("u", "look around"),),
        "m2",
        Mode.PLAN,
    )
    assert [info.id for info in await store.list_sessions()] == [parent.id]
    assert await store.sent_before("/w", 10) == ()
    assert (await store.get(child)).title == "look around"


async def test_the_beginning_of_an_id_does_not_find_a_child(store: Store) -> None:
    parent = (await store.create_session("/w", "m", Mode.ASK)).id
    child = await store.add_child(parent, "c1", "explore", "x", "m")
    with pytest.raises(StorageError):
        await store.get(child[:-1])


async def test_children_go_with_their_session(store: Store) -> None:
    parent = (await store.create_session("/w", "m", Mode.ASK)).id
    child = await store.add_child(parent, "c1", "explore", "x", "m")
    await store.delete(parent)
    with pytest.raises(StorageError):
        await store.get(child)


async def test_after_a_crash_no_child_is_told_as_running(store: Store) -> None:
    parent = (await store.create_session("/w", "m", Mode.ASK)).id
    child = await store.add_child(parent, "c1", "explore", "x", "m")
    await store.close_unfinished(parent)
    assert (await store.load(parent)).children["c1"] == (
        ChildLine(child, "explore", "x", ChildState.STOPPED, summary=LOST),
    )
