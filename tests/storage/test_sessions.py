"""The store as the orchestrator uses it."""

import sqlite3
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from coder_tui.protocol.access import Mode, ToolKind
from coder_tui.protocol.display import TerminalBlock, TextBlock
from coder_tui.protocol.errors import StorageError
from coder_tui.protocol.messages import (
    AssistantMessage,
    FinishReason,
    Message,
    ThinkingBlock,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from coder_tui.protocol.outcomes import Outcome
from coder_tui.protocol.todos import TodoItem, TodoPriority, TodoStatus
from coder_tui.storage.records import FinishedCall
from coder_tui.storage.store import CallRecord, DecisionRecord, Store, StoredCall


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(tmp_path / "store.db")
    yield opened
    await opened.close()


async def _session(store: Store, directory: str = "/w") -> str:
    return (await store.sessions.create(directory, "openai/x", Mode.ASK)).id


def _question(*call_ids: str, id: str = "a1") -> AssistantMessage:
    calls = tuple(ToolCall(call_id, "bash", '{"command": "ls"}') for call_id in call_ids)
    return AssistantMessage(id, "", calls=calls, finish=FinishReason.TOOL_CALLS)


def _record(call_id: str) -> CallRecord:
    return CallRecord(call_id, "a1", "bash", '{"command": "ls"}', "ls", ToolKind.EXECUTE)


def _answer(call_id: str) -> ToolMessage:
    return ToolMessage(f"t-{call_id}", call_id, "bash", '{"ok": true}')


async def _finish(store: Store, session_id: str, call_id: str) -> None:
    display = TerminalBlock("ls", "a\n", 0)
    message = _answer(call_id)
    await store.calls.finish(
        session_id, FinishedCall(call_id, message.tool, Outcome.OK, "ls: 1 line", display, 12, message)
    )


async def test_a_new_session_is_complete_and_found_again(store: Store) -> None:
    info = await store.sessions.create("/w", "openai/x", Mode.PLAN)
    assert (info.title, info.directory, info.model, info.mode) == ("", "/w", "openai/x", Mode.PLAN)
    assert (info.created, info.message_count, info.cost) == (info.updated, 0, None)
    assert len(info.id) == 14
    assert await store.sessions.get(info.id) == info


async def test_names_models_and_modes_change(store: Store) -> None:
    info = await store.sessions.create("/w", "openai/x", Mode.ASK)
    await store.sessions.rename(info.id, "A title with \ud800 and \x00")
    await store.sessions.set_model(info.id, "openai/y")
    await store.profiles.set_mode(info.id, Mode.EDITS)
    changed = replace(info, title="A title with \ud800 and \x00", model="openai/y", mode=Mode.EDITS)
    assert await store.sessions.get(info.id) == changed


async def test_messages_come_back_in_order_after_reopening(store: Store, tmp_path: Path) -> None:
    session_id = await _session(store)
    messages: tuple[Message, ...] = (
        UserMessage("u1", "hello \ud800 \x00"),
        AssistantMessage(
            "a1", "hi", (ThinkingBlock("hm", "sig"),), (), "openai/x", usage=Usage(1, 2, cost=0.5)
        ),
        UserMessage("u2", "go on"),
    )
    assert [await store.messages.add(session_id, message) for message in messages] == [1, 2, 3]
    await store.close()
    again = await Store.open(tmp_path / "store.db")
    loaded = await again.load(session_id)
    await again.close()
    assert loaded.messages == messages
    assert loaded.info.message_count == 3


async def test_a_call_is_there_before_its_result_and_with_it_after(store: Store) -> None:
    session_id = await _session(store)
    await store.messages.add(session_id, _question("c1"))
    await store.calls.begin(session_id, _record("c1"))
    assert (await store.load(session_id)).calls == {
        "c1": StoredCall(_record("c1"), None, None, None, "ls", 0)
    }
    await _finish(store, session_id, "c1")
    loaded = await store.load(session_id)
    assert loaded.calls == {
        "c1": StoredCall(
            _record("c1"), Outcome.OK, '{"ok": true}', TerminalBlock("ls", "a\n", 0), "ls: 1 line", 12
        )
    }
    assert loaded.messages == (_question("c1"), _answer("c1"))


async def test_a_call_ends_once_and_a_refused_end_adds_no_message(store: Store) -> None:
    session_id = await _session(store)
    await store.calls.begin(session_id, _record("c1"))
    await _finish(store, session_id, "c1")
    for call_id in ("c1", "never recorded"):
        with pytest.raises(LookupError):
            await _finish(store, session_id, call_id)
    assert (await store.load(session_id)).messages == (_answer("c1"),)


async def test_call_ids_are_unique_in_a_session_only(store: Store) -> None:
    first, second = await _session(store), await _session(store)
    await store.calls.begin(first, _record("c1"))
    await store.calls.begin(second, _record("c1"))
    with pytest.raises(sqlite3.IntegrityError):
        await store.calls.begin(first, _record("c1"))


async def test_todos_usage_and_decisions_are_kept(store: Store) -> None:
    session_id = await _session(store)
    todos = (TodoItem("1", "do it", TodoStatus.IN_PROGRESS, TodoPriority.HIGH),)
    decisions = (
        DecisionRecord("c1", "bash", "ask", 'bash "*"', "~/config.toml:3", "allow_once"),
        DecisionRecord("c2", "read", "allow", "read", "default", ""),
    )
    assert (await store.todos.get(session_id), await store.usage.total(session_id)) == ((), Usage())
    await store.todos.set(session_id, todos)
    await store.usage.add(session_id, "a1", "openai/x", Usage(10, 5, 4, 3, 2, 0.25))
    await store.usage.add(session_id, "a2", "openai/x", Usage(1, 1))
    for decision in decisions:
        await store.decisions.add(session_id, decision)
    loaded = await store.load(session_id)
    assert (loaded.todos, loaded.usage) == (todos, Usage(11, 6, 4, 3, 2, 0.25))
    assert (await store.todos.get(session_id), await store.usage.total(session_id)) == (todos, loaded.usage)
    assert await store.decisions.list(session_id) == decisions
    assert loaded.info.cost == 0.25


async def test_the_latest_session_is_the_one_used_last_whatever_the_clock_says(
    store: Store, tmp_path: Path
) -> None:
    first, second, other = await _session(store), await _session(store), await _session(store, "/other")
    await store.messages.add(first, UserMessage("u", "x"))
    with sqlite3.connect(tmp_path / "store.db") as connection:
        connection.execute("UPDATE sessions SET updated = 0 WHERE id = ?", (first,))
    connection.close()
    latest = await store.sessions.latest("/w")
    assert latest is not None and latest.id == first
    assert [info.id for info in await store.sessions.list("/w", 10)] == [first, second]
    assert [info.id for info in await store.sessions.list(None, 2)] == [first, other]
    assert await store.sessions.latest("/nowhere") is None


async def test_a_folder_with_an_undecodable_name_is_found_again(store: Store) -> None:
    session_id = await _session(store, "/w/\udcff")
    await store.messages.add(session_id, UserMessage("u1", "hello"))
    latest = await store.sessions.latest("/w/\udcff")
    assert latest is not None and (latest.id, latest.directory) == (session_id, "/w/\udcff")


async def test_the_beginning_of_an_id_is_enough_if_it_fits_one_session(store: Store) -> None:
    first, second = await _session(store), await _session(store)
    assert (await store.sessions.get(first[:-1].upper())).id == first
    with pytest.raises(StorageError) as caught:
        await store.sessions.get(second[:3])
    both = f"{second} (untitled), {first} (untitled)"
    assert (
        str(caught.value)
        == f"{second[:3]!r} matches more than one session: {both}; give a longer part of the id"
    )


@pytest.mark.parametrize("unknown", ["nope", "", "%", "\ud800"])
async def test_an_unknown_id_is_one_sentence(store: Store, unknown: str) -> None:
    await _session(store)
    with pytest.raises(StorageError) as caught:
        await store.sessions.get(unknown)
    assert str(caught.value) == f"no session {unknown!r}; `coder-tui sessions list` shows them"


async def test_deleting_removes_everything_of_one_session(store: Store, tmp_path: Path) -> None:
    gone, kept = await _session(store), await _session(store)
    for session_id in (gone, kept):
        await store.messages.add(session_id, _question("c1"))
        await store.calls.begin(session_id, _record("c1"))
        await store.usage.add(session_id, "a1", "m", Usage(1))
        await store.decisions.add(session_id, DecisionRecord("c1", "bash", "ask", "", "", ""))
    await store.sessions.delete(gone)
    with pytest.raises(StorageError, match="no session"):
        await store.sessions.delete(gone)
    with sqlite3.connect(tmp_path / "store.db") as connection:
        left = {
            table: connection.execute(f"SELECT DISTINCT session_id FROM {table}").fetchall()
            for table in ("messages", "calls", "usage", "decisions")
        }
    connection.close()
    only_kept = [(kept,)]
    assert left == {"messages": only_kept, "calls": only_kept, "usage": only_kept, "decisions": only_kept}


async def test_a_session_has_one_writer_and_is_not_deleted_under_it(store: Store, tmp_path: Path) -> None:
    session_id = await _session(store)
    other = await Store.open(tmp_path / "store.db")
    assert [await store.sessions.claim(session_id), await other.sessions.claim(session_id)] == [True, False]
    with pytest.raises(StorageError) as caught:
        await other.sessions.delete(session_id)
    assert str(caught.value) == f"session {session_id} is open in another process; close it there first"
    await store.sessions.release(session_id)
    assert await other.sessions.claim(session_id)
    await other.close()
    assert await store.sessions.claim(session_id)
    await store.sessions.delete(session_id)
    assert await store.sessions.list() == ()


def _closed(call_id: str, reason: str) -> ToolMessage:
    content = f'{{"ok": false, "error": {{"type": "cancelled", "message": "{reason}"}}}}'
    return ToolMessage(f"closed-{call_id}", call_id, "bash", content)


_INTERRUPTED = "interrupted: the program ended before this call finished; it may have run"
_NOT_RUN = "not run: the program ended before this call began"


async def test_closing_unfinished_calls_gives_each_a_result_behind_the_others(store: Store) -> None:
    session_id = await _session(store)
    early, late = _question("c1", "c2", "c3"), _question("d1", "d2", id="a2")
    for message in (UserMessage("u1", "x"), early):
        await store.messages.add(session_id, message)
    await store.calls.begin(session_id, _record("c1"))
    await store.calls.begin(session_id, _record("c2"))
    await _finish(store, session_id, "c2")
    for message in (UserMessage("u2", "y"), late):
        await store.messages.add(session_id, message)
    assert await store.close_unfinished(session_id) == ("c1", "c3", "d1", "d2")
    loaded = await store.load(session_id)
    assert loaded.messages == (
        UserMessage("u1", "x"),
        early,
        _answer("c2"),
        _closed("c1", _INTERRUPTED),
        _closed("c3", _NOT_RUN),
        UserMessage("u2", "y"),
        late,
        _closed("d1", _NOT_RUN),
        _closed("d2", _NOT_RUN),
    )
    assert loaded.calls["c1"] == StoredCall(
        _record("c1"),
        Outcome.CANCELLED,
        _closed("c1", _INTERRUPTED).content,
        TextBlock(_INTERRUPTED),
        "ls",
        0,
    )
    assert {call.outcome for call in loaded.calls.values()} == {Outcome.OK, Outcome.CANCELLED}
    assert await store.messages.add(session_id, UserMessage("u3", "z")) == 10


async def test_a_recorded_call_whose_message_was_lost_is_closed_without_a_result_message(
    store: Store,
) -> None:
    session_id = await _session(store)
    await store.calls.begin(session_id, _record("c1"))
    assert await store.close_unfinished(session_id) == ("c1",)
    loaded = await store.load(session_id)
    assert (loaded.messages, loaded.calls["c1"].outcome) == ((), Outcome.CANCELLED)


async def test_a_finished_session_has_nothing_to_close(store: Store) -> None:
    session_id = await _session(store)
    await store.messages.add(session_id, _question("c1"))
    await store.calls.begin(session_id, _record("c1"))
    await _finish(store, session_id, "c1")
    before = await store.load(session_id)
    assert await store.close_unfinished(session_id) == ()
    assert await store.load(session_id) == before
