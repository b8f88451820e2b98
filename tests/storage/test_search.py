"""Sessions are found by the words in them."""

import random
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from coder_tui.protocol.access import Mode, ToolKind
from coder_tui.protocol.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from coder_tui.storage.database import Database
from coder_tui.storage.index import MOST_WORDS, around
from coder_tui.storage.migrations import MIGRATIONS
from coder_tui.storage.store import CallRecord, Store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(tmp_path / "store.db")
    yield opened
    await opened.close()


async def _session(store: Store, *texts: str, directory: str = "/w") -> str:
    """Store a session in which the user and the model say these texts in turn."""
    info = await store.sessions.create(directory, "openai/x", Mode.ASK)
    for place, text in enumerate(texts):
        said = UserMessage(f"u{place}", text) if place % 2 == 0 else AssistantMessage(f"a{place}", text)
        await store.messages.add(info.id, said)
    return info.id


async def _found(store: Store, words: str, directory: str | None = None) -> list[str]:
    return [hit.info.id for hit in await store.search.find(words, directory)]


async def test_a_session_is_found_by_all_its_words_wherever_in_it_they_were_said(store: Store) -> None:
    shop = await _session(store, "Round the prices of the corner shop", "I use Decimal now.")
    other = await _session(store, "What is a corner case?", "One that nobody thought of.")
    assert await _found(store, "corner") == [other, shop]
    assert await _found(store, "corner decim") == [shop]
    assert await _found(store, "DECIMAL price") == [shop]
    assert await _found(store, "corner nowhere") == []
    assert await _found(store, "corner", "/elsewhere") == []


async def test_a_hit_shows_the_passage_that_has_most_of_the_words(store: Store) -> None:
    session_id = await _session(store, "about prices", "prices are rounded", "thanks for the prices")
    await store.sessions.rename(session_id, "rounded prices")
    (hit,) = await store.search.find("prices rounded")
    assert (hit.info.id, hit.excerpt, hit.count) == (session_id, "prices are rounded", 4)


async def test_titles_and_summaries_of_calls_are_searched_too(store: Store) -> None:
    session_id = await _session(store, "go on")
    await store.sessions.rename(session_id, "first name")
    await store.sessions.rename(session_id, "Wichtige Prüfung")
    await store.messages.add(session_id, AssistantMessage("a1", "", calls=(ToolCall("c1", "bash", "{}"),)))
    record = CallRecord("c1", "a1", "bash", "{}", "pytest tests/shop", ToolKind.EXECUTE)
    await store.calls.begin(session_id, record)
    assert await _found(store, "prufung") == [session_id]
    assert await _found(store, "pytest go") == [session_id]
    assert await _found(store, "first") == []


async def test_tool_results_are_not_searched(store: Store) -> None:
    session_id = await _session(store, "read it")
    await store.messages.add(session_id, ToolMessage("t1", "c1", "read", '{"text": "needle"}'))
    assert await _found(store, "needle") == []


async def test_undone_messages_are_found_again_only_after_a_redo(store: Store) -> None:
    session_id = await _session(store)
    await store.turns.begin(session_id, 1)
    await store.messages.add(session_id, UserMessage("u1", "mention the heron"))
    await store.messages.add(session_id, AssistantMessage("a1", "", calls=(ToolCall("c1", "bash", "{}"),)))
    record = CallRecord("c1", "a1", "bash", "{}", "grep egret", ToolKind.EXECUTE)
    await store.calls.begin(session_id, record)
    await store.turns.hide_messages(session_id, 1, ())
    assert (await _found(store, "heron"), await _found(store, "egret")) == ([], [])
    await store.turns.show_messages(session_id, 1)
    assert await _found(store, "heron egret") == [session_id]


async def test_a_sub_agents_conversation_is_not_found_by_itself(store: Store) -> None:
    session_id = await _session(store, "look around")
    child = await store.subagents.add(session_id, "c1", "explore", "find the otter", "openai/x")
    await store.messages.add(child, AssistantMessage("a1", "there is an otter"))
    assert await _found(store, "otter") == []


async def test_signs_and_writing_without_blanks_are_found_as_they_stand(store: Store) -> None:
    session_id = await _session(store, "Is c++ in a_b.py 100% right?", "価格を丸めます 🎉")
    for words in ("c++", "a_b.py", "100%", "丸め", "🎉", "(", "%"):
        expected = [session_id] if words != "(" else []
        assert (words, await _found(store, words)) == (words, expected)
    assert await _found(store, "aXb.py") == []


@pytest.mark.parametrize(
    "words",
    ['"', "'", "NOT", "AND OR", "a*", "^", "text:x", "NEAR(a b)", "{", "-", "\\", "!", "\x00", "\ud800", " "],
    ids=ascii,
)
async def test_no_words_are_bad_syntax(store: Store, words: str) -> None:
    await _session(store, "some words")
    assert await _found(store, words) == []


async def test_whatever_was_said_is_found_by_its_own_words(store: Store) -> None:
    texts = ("plain", "broken \ud800 half", "\\~ marked", '{} [] "quoted"')
    for text in texts:
        session_id = await _session(store, text)
        word = max(text.split(), key=len)
        assert session_id in await _found(store, word)


async def test_only_so_many_words_count(store: Store) -> None:
    session_id = await _session(store, "word")
    assert await _found(store, "word " * MOST_WORDS + "missing") == [session_id]


async def test_deleted_sessions_leave_nothing_to_be_found(store: Store, tmp_path: Path) -> None:
    session_id = await _session(store, "a secret plan")
    await store.sessions.delete(session_id)
    assert await _found(store, "secret") == []
    with sqlite3.connect(tmp_path / "store.db") as connection:
        assert connection.execute("SELECT count(*) FROM passages").fetchone() == (0,)
        connection.execute("INSERT INTO passage_words (passage_words) VALUES ('integrity-check')")


async def test_an_older_store_is_searched_after_its_migration(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    before = next(at for at, steps in enumerate(MIGRATIONS) if any("passage_words" in step for step in steps))
    await (await Database.open(path, MIGRATIONS[:before])).close()
    with sqlite3.connect(path) as connection:
        connection.executescript(
            """
            INSERT INTO sessions (id, title, directory, model, mode, created, updated, activity, parent_id)
            VALUES ('s1', 'old title', '/w', 'm', 'ask', 0, 0, 1, NULL),
            ('c1', '', '/w', 'm', 'ask', 0, 0, 0, 's1');
            INSERT INTO messages (session_id, seq, message_id, role, body, created, unsaid_with) VALUES
            ('s1', 1, 'u1', 'user', '{"text": "an old heron"}', 0, NULL),
            ('s1', 2, 'a1', 'assistant', '{"text": ""}', 0, NULL),
            ('s1', 3, 'u2', 'user', '{"text": "an unsaid egret"}', 0, 2),
            ('c1', 1, 'u1', 'user', '{"text": "an otter"}', 0, NULL);
            INSERT INTO calls
            (session_id, call_id, message_id, tool, arguments, kind, proposed_summary, started) VALUES
            ('s1', 'k1', 'a1', 'bash', '{}', 'execute', 'ls nest', 0),
            ('s1', 'k2', 'u2', 'bash', '{}', 'execute', 'ls egret', 0);
            """
        )
    store = await Store.open(path)
    assert await _found(store, "title heron nest") == ["s1"]
    assert (await _found(store, "egret"), await _found(store, "otter")) == ([], [])
    await store.close()


def test_an_excerpt_is_one_line_around_the_first_word() -> None:
    text = "\n".join(f"line {number}" for number in range(100))
    assert around(text, ["57"]) == (
        "…50 line 51 line 52 line 53 line 54 line 55 line 56 line 57 line 58 line 59 line 60 line 61 line 62 "
        "line 63 line 64 l…"
    )
    assert around("short  and\tsweet", ["nothing"]) == "short and sweet"


async def test_the_index_stays_true_through_everything_that_changes_sessions(
    store: Store, tmp_path: Path
) -> None:
    chance = random.Random(7)
    ids = [await _session(store) for _ in range(3)]
    turns = dict.fromkeys(ids, 0)
    for number in range(120):
        session_id = chance.choice(ids)
        match chance.randrange(8):
            case 0 | 1 | 2:
                turns[session_id] += 1
                await store.turns.begin(session_id, turns[session_id])
                await store.messages.add(session_id, UserMessage(f"u{number}", f"word{number} said"))
            case 3:
                reply = AssistantMessage(f"a{number}", "", calls=(ToolCall(f"c{number}", "bash", "{}"),))
                await store.messages.add(session_id, reply)
                record = CallRecord(f"c{number}", f"a{number}", "bash", "{}", "ls", ToolKind.EXECUTE)
                await store.calls.begin(session_id, record)
            case 4 if turns[session_id]:
                await store.turns.hide_messages(session_id, turns[session_id], ())
            case 5 if turns[session_id]:
                await store.turns.show_messages(session_id, turns[session_id])
            case 6:
                await store.sessions.rename(session_id, f"title{number}")
            case 7 if len(ids) < 6:
                ids.append((await store.forks.create(session_id)).id)
                turns[ids[-1]] = 0
            case _ if number % 5 == 0:
                await store.sessions.delete(ids.pop(ids.index(session_id)))
                ids.append(await _session(store))
                turns[ids[-1]] = 0
            case _:
                pass
    with sqlite3.connect(tmp_path / "store.db") as connection:
        connection.execute("INSERT INTO passage_words (passage_words, rank) VALUES ('integrity-check', 1)")
        indexed = connection.execute("SELECT session_id, text FROM passages ORDER BY 1, 2").fetchall()
        said = connection.execute(
            "SELECT session_id, json_extract(body, '$.text') AS text FROM messages "
            "WHERE unsaid_with IS NULL AND text <> '' UNION ALL "
            "SELECT id, title FROM sessions WHERE title <> '' UNION ALL "
            "SELECT session_id, proposed_summary FROM calls WHERE (session_id, message_id) IN "
            "(SELECT session_id, message_id FROM messages WHERE unsaid_with IS NULL) ORDER BY 1, 2"
        ).fetchall()
    assert indexed == said
    assert len(indexed) > 20
