"""Deleted sessions can be restored for a while."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import StorageError
from coder_tui.protocol.messages import UserMessage
from coder_tui.storage.store import Store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(tmp_path / "store.db")
    yield opened
    await opened.close()


async def _session(store: Store, text: str = "hello heron", directory: str = "/w") -> str:
    info = await store.sessions.create(directory, "openai/x", Mode.ASK)
    await store.messages.add(info.id, UserMessage("u1", text))
    return info.id


async def test_a_deleted_session_is_in_no_list_until_it_is_brought_back(store: Store) -> None:
    session_id = await _session(store)
    before = await store.sessions.get(session_id)
    await store.trash.discard(session_id)
    assert await store.sessions.list() == ()
    assert await store.search.find("heron") == ()
    assert await store.sessions.latest("/w") is None
    assert await store.messages.sent_before("/w", 10) == ()
    with pytest.raises(StorageError) as caught:
        await store.sessions.get(session_id[:10])
    assert str(caught.value) == (
        f"session {session_id} was deleted; `coder-tui sessions restore {session_id}` restores it"
    )
    assert [each.info for each in await store.trash.list()] == [before]
    assert await store.trash.restore(session_id[:12]) == before
    assert (await store.sessions.get(session_id), await store.trash.list()) == (before, ())
    assert [hit.info.id for hit in await store.search.find("heron")] == [session_id]


async def test_what_was_deleted_last_comes_first_of_its_folder(store: Store) -> None:
    first, second, far = await _session(store), await _session(store), await _session(store, directory="/far")
    for session_id in (second, first, far):
        await store.trash.discard(session_id)
    assert [each.info.id for each in await store.trash.list("/w")] == [first, second]
    assert [each.info.id for each in await store.trash.list()] == [far, first, second]


async def test_a_session_in_use_is_not_deleted(store: Store, tmp_path: Path) -> None:
    session_id = await _session(store)
    other = await Store.open(tmp_path / "store.db")
    await other.sessions.claim(session_id)
    for asking in (store, other):
        with pytest.raises(StorageError, match="is open in another coder-tui; close it there first"):
            await asking.trash.discard(session_id)
    await other.close()
    await store.trash.discard(session_id)
    assert await store.sessions.claim(session_id)


async def test_the_trash_is_emptied_of_what_is_old(store: Store) -> None:
    old, new, kept = await _session(store), await _session(store), await _session(store)
    await store.trash.discard(old)
    between = time.time()
    await store.trash.discard(new)
    assert await store.trash.empty(between) == 1
    assert await store.trash.empty(between) == 0
    assert [each.info.id for each in await store.trash.list()] == [new]
    assert [info.id for info in await store.sessions.list()] == [kept]
    # How similar two ids are is chance; the hint is there in either case.
    way = f"(the nearest are {new}|`coder-tui sessions list --deleted` shows them)"
    with pytest.raises(StorageError, match=f"no deleted session {old!r}; {way}"):
        await store.trash.restore(old)


async def test_a_mistyped_id_lists_the_nearest_ones(store: Store) -> None:
    session_id = await _session(store)
    await store.sessions.rename(session_id, "prices")
    wrong = session_id[:8] + ("y" if session_id[8] == "z" else "z")
    with pytest.raises(StorageError) as caught:
        await store.sessions.get(wrong)
    assert str(caught.value) == (
        f"no session {wrong!r}; the nearest are {session_id} (prices); `coder-tui sessions list` shows them"
    )
