"""A damaged store: the rest of a session is loaded, and nothing ends in a traceback."""

import random
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from coder_tui.protocol.access import Mode, ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import StorageError
from coder_tui.protocol.messages import (
    AssistantMessage,
    FinishReason,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from coder_tui.protocol.outcomes import Outcome
from coder_tui.protocol.subagents import ChildState
from coder_tui.protocol.todos import TodoItem, TodoPriority, TodoStatus
from coder_tui.storage.command_records import LeftOut
from coder_tui.storage.database import Damage
from coder_tui.storage.export import to_jsonl, to_markdown
from coder_tui.storage.manifest import ABSENT, FileKind, FileState
from coder_tui.storage.records import FinishedCall
from coder_tui.storage.store import CallRecord, DecisionRecord, Store

FLIPS = 300
FOLDER = "/w"
TURNS = 4
DAMAGED = "is damaged or not a database; it was not changed. Move it away to start afresh"


async def _turn(store: Store, session_id: str, turn: int) -> None:
    await store.turns.begin(session_id, turn)
    await store.messages.add(session_id, UserMessage(f"u{turn}", f"question {turn} " + "words " * 50))
    call = ToolCall(f"c{turn}", "bash", '{"command": "ls"}')
    reply = AssistantMessage(f"a{turn}", f"reply {turn}", calls=(call,), finish=FinishReason.TOOL_CALLS)
    await store.messages.add(session_id, reply)
    await store.calls.begin(
        session_id, CallRecord(call.id, reply.id, "bash", call.arguments, "list it", ToolKind.EXECUTE)
    )
    await store.decisions.add(session_id, DecisionRecord(call.id, "bash", "allow", "bash", "built in", ""))
    file = FileState(FileKind.FILE, "0" * 64, 0o644)
    number = await store.command_records.begin(session_id, turn, {"ignored": LeftOut.from_names({"build"})})
    added = await store.changes.begin(session_id, turn, call.id, [(Path(f"/w/{turn}"), ABSENT)])
    await store.changes.finish(session_id, [(change, file) for change in added])
    await store.command_records.end(session_id, number, {"ignored": LeftOut.from_names({"build"})})
    child = await store.subagents.add(session_id, call.id, "explore", "look around", "openai/x")
    await store.subagents.end(child, ChildState.OK, "found it", 3)
    answer = ToolMessage(f"t{turn}", call.id, "bash", '{"ok": true}')
    await store.calls.finish(
        session_id, FinishedCall(call.id, call.name, Outcome.OK, "done", TextBlock("a\n"), 12, answer)
    )
    await store.usage.add(session_id, reply.id, "openai/x", Usage(10, 5, 0, 0, 0, 0.1), turn)


async def _made(path: Path) -> str:
    """Make a store with a session that has rows of every kind; return its id."""
    store = await Store.open(path)
    session_id = (await store.sessions.create(FOLDER, "openai/x", Mode.ASK)).id
    for turn in range(1, TURNS + 1):
        await _turn(store, session_id, turn)
    await store.todos.set(session_id, (TodoItem("1", "fix it", TodoStatus.PENDING, TodoPriority.HIGH),))
    await store.compactions.add(session_id, "t1", "what was said", frozenset({"c1"}))
    await store.compactions.add_pin(session_id, "remember this")
    await store.profiles.set_plan(session_id, "first, second")
    await store.sessions.rename(session_id, "a long talk")
    await store.close()
    return session_id


async def _damage(path: Path, statement: str, *values: object) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(statement, values)
    connection.close()


async def test_a_message_that_cannot_be_read_is_left_out_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    session_id = await _made(path)
    await _damage(path, "UPDATE messages SET body = substr(body, 1, 20) WHERE message_id IN ('u2', 'a3')")
    await _damage(path, "UPDATE calls SET kind = 'nonsense' WHERE call_id = 'c4'")
    store = await Store.open(path)
    assert await store.close_unfinished(session_id) == ()
    stored = await store.load(session_id)
    # The result of a lost call is dropped as well: providers accept neither alone.
    assert [each.id for each in stored.messages] == ["u1", "a1", "t1", "a2", "t2", "u3", "u4", "a4", "t4"]
    assert stored.damage == Damage(messages=2, calls=1)
    assert str(stored.damage) == (
        "This session is damaged on disk: 2 messages lost, 1 call lost. The rest was loaded."
    )
    await store.messages.add(session_id, UserMessage("u5", "go on"))
    assert (await store.load(session_id)).messages[-1].id == "u5"
    await store.close()


async def test_an_undecodable_byte_costs_one_character(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    session_id = await _made(path)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"question 3 words", b"question \xff words"))
    store = await Store.open(path)
    stored = await store.load(session_id)
    assert [each.text[:16] for each in stored.messages if isinstance(each, UserMessage)] == [
        "question 1 words",
        "question 2 words",
        "question \ufffd words",
        "question 4 words",
    ]
    assert stored.damage == Damage(garbled=1)
    assert str(stored.damage) == (
        "This session is damaged on disk: 1 message with unreadable characters. The rest was loaded."
    )
    assert await store.search.find("question") != ()
    await store.close()


async def test_a_lost_result_gets_one_that_says_so(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    session_id = await _made(path)
    await _damage(path, "UPDATE messages SET body = '{' WHERE message_id = 't2'")
    await _damage(path, "UPDATE calls SET kind = 'nonsense' WHERE call_id = 'c2'")
    store = await Store.open(path)
    assert await store.close_unfinished(session_id) == ("c2",)
    assert await store.close_unfinished(session_id) == ()
    stored = await store.load(session_id)
    assert [each.id for each in stored.messages][3:7] == ["u2", "a2", "closed-c2", "u3"]
    assert list(stored.calls) == ["c1", "c3", "c4", "c2"]
    await store.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE sqlite_master SET sql = replace(sql, 'CREATE TABLE messages', 'CREATE TABLE mess\xc9ges')",
        "UPDATE sqlite_master SET sql = replace(sql, 'CREATE', CAST(x'C9' AS TEXT)) WHERE name = 'messages'",
        "UPDATE sqlite_master SET sql = replace(sql, 'body TEXT', 'bodx TEXT')",
        "DELETE FROM sqlite_master WHERE name = 'messages'",
        "DELETE FROM sqlite_master WHERE name = 'passage_words_data'",
        "PRAGMA user_version = 3",
    ],
)
async def test_a_foreign_schema_counts_as_damaged(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "store.db"
    session_id = await _made(path)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(statement)
    connection.close()
    with pytest.raises(StorageError) as caught:
        store = await Store.open(path)
        try:
            await store.messages.add(session_id, UserMessage("u9", "hello"))
        finally:
            await store.close()
    assert str(caught.value) == f"{path} {DAMAGED}"


def _flipped(data: bytes, dice: random.Random) -> bytes:
    """Damage data like disks and crashes: single bits, lost or foreign sectors, a missing end."""
    torn = bytearray(data)
    match dice.randrange(5):
        case 0:
            del torn[dice.randrange(len(torn)) :]
        case 1:
            start = dice.randrange(len(torn) // 512) * 512
            torn[start : start + 512] = bytes(512)
        case 2:
            start = dice.randrange(len(torn) // 512) * 512
            torn[start : start + 512] = dice.randbytes(512)
        case _:
            for _ in range(dice.randrange(1, 20)):
                torn[dice.randrange(100, len(torn))] = dice.randrange(256)
    return bytes(torn)


def _all_that_reads_and_writes(store: Store, session_id: str) -> list[Callable[[], Awaitable[object]]]:
    async def documents() -> None:
        stored = await store.load(session_id)
        to_markdown(stored)
        to_jsonl(stored)

    return [
        lambda: store.sessions.list(FOLDER, only_used=True),
        lambda: store.sessions.latest(FOLDER),
        lambda: store.sessions.get(session_id[:6]),
        lambda: store.search.find("question words c++"),
        lambda: store.close_unfinished(session_id),
        documents,
        lambda: store.turns.list(session_id),
        lambda: store.changes.since(session_id, 1),
        lambda: store.changes.outermost(session_id, 1),
        lambda: store.decisions.list(session_id),
        lambda: store.profiles.get(session_id),
        lambda: store.compactions.pins(session_id),
        lambda: store.usage.calls(session_id),
        lambda: store.usage.days(7),
        lambda: store.messages.sent_before(FOLDER, 50),
        lambda: store.copies.by_turn(),
        lambda: store.subagents.list(session_id),
        lambda: store.sessions.set_model(session_id, "openai/y"),
        lambda: store.turns.begin(session_id, 99),
        lambda: store.messages.add(session_id, UserMessage("u9", "still there?")),
        lambda: store.turns.hide_messages(session_id, 99, ()),
        lambda: store.forks.create(session_id),
        lambda: store.trash.discard(session_id),
        lambda: store.trash.list(),
        lambda: store.sessions.delete(session_id),
    ]


async def test_any_changed_bytes_give_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    session_id = await _made(path)
    data, dice = path.read_bytes(), random.Random(8)
    opened = whole = 0
    for number in range(FLIPS):
        torn = tmp_path / f"{number}" / "store.db"
        torn.parent.mkdir()
        torn.write_bytes(_flipped(data, dice))
        try:
            store = await Store.open(torn)
        except StorageError:
            continue
        opened += 1
        refused = 0
        for move in _all_that_reads_and_writes(store, session_id):
            try:
                await move()
            except StorageError:
                refused += 1
        whole += refused == 0
        await store.close()
    assert opened > FLIPS / 3
    assert whole > FLIPS / 10
