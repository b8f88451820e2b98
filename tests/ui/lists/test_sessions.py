"""The list of sessions: searching what was said, deleting and bringing back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import cast

from textual import events

from coder_tui.agent.session import Session
from coder_tui.ui.lists.sessions import SessionsScreen
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for, stage
from tests.fakes.shelf import FakeShelf, stored


@asynccontextmanager
async def shelved(shelf: FakeShelf) -> AsyncIterator[Stage]:
    session = FakeSession()
    async with stage(session, (100, 30), replace(launch_for(session), shelf=lambda: shelf)) as s:
        yield s


async def listed(s: Stage) -> SessionsScreen:
    await s.until(lambda: isinstance(s.app.screen, SessionsScreen))
    top = s.app.screen
    assert isinstance(top, SessionsScreen)
    await s.until(lambda: top.list.marked is not None)
    return top


async def test_typing_finds_by_title_and_by_what_was_said() -> None:
    shelf = FakeShelf(stored("a1", "prices"), stored("b2", "heron"), stored("c3", "birds"))
    shelf.said["c3"] = "there was a heron in it"
    async with shelved(shelf) as s:
        await s.app.run_action("screen.sessions")
        await listed(s)
        await s.pilot.press("/", *"heron")
        await s.until(lambda: "2 of 3" in s.drawn() and "prices" not in s.drawn())
        await s.pilot.press("ctrl+u", *"heron in")
        await s.until(lambda: "there was a heron in it  c3" in s.drawn() and "1 of 3" in s.drawn())
        await s.pilot.press("escape")
        await s.until(lambda: "prices" in s.drawn())


async def test_a_session_that_another_program_has_open_is_marked() -> None:
    shelf = FakeShelf(stored("a1", "prices"), stored("b2", "heron"))
    shelf.elsewhere = frozenset({"b2"})
    async with shelved(shelf) as s:
        await s.app.run_action("screen.sessions")
        await listed(s)
        rows = [line for line in s.drawn().splitlines() if "14 msg" in line]
        assert ["in use" in row for row in rows] == [False, True]


async def test_search_by_command_looks_in_all_folders() -> None:
    shelf = FakeShelf(stored("a1", "prices"), stored("b2", "birds", 1, "/srv/x"))
    shelf.said["b2"] = "an egret, too"
    async with shelved(shelf) as s:
        await s.pilot.press(*"/search egret", "enter")
        await listed(s)
        await s.until(lambda: "an egret, too" in s.drawn() and "/srv/x" in s.drawn())
        assert "prices" not in s.drawn()


async def test_of_sessions_in_which_it_was_said_the_newest_comes_first() -> None:
    shelf = FakeShelf(stored("a1", "a long title of a day"), stored("b2", "egrets"), stored("c3", "short"))
    shelf.said = {"a1": "an egret", "c3": "no egret"}
    async with shelved(shelf) as s:
        await s.pilot.press(*"/search egret", "enter")
        await listed(s)
        await s.until(lambda: "3" in s.drawn().partition("/egret_")[2][:80])
        rows = [line for line in s.drawn().splitlines() if " msg " in line]
        titles = ("a long title of a day", "short", "egrets")
        assert [title in row for title, row in zip(titles, rows, strict=True)] == [True] * 3


async def test_search_by_command_wants_words() -> None:
    async with shelved(FakeShelf()) as s:
        await s.pilot.press(*"/search", "escape", "enter")
        await s.until(lambda: "Say what to look for: /search WORDS" in s.drawn())


async def test_enter_waits_for_what_the_letters_before_it_find() -> None:
    shelf = FakeShelf(stored("a1", "a h e r o n"), stored("b2", "birds"))
    shelf.said["b2"] = "aheron"
    shelf.opened["b2"] = other = FakeSession()
    other.id = "b2"
    async with shelved(shelf) as s:
        await s.app.run_action("screen.sessions")
        await listed(s)
        shelf.looks.clear()
        for key in (*"aheron", "enter"):
            s.app.post_message(events.Key(key, key if len(key) == 1 else None))
        # Not by the pilot: it waits for the program, which waits for the search.
        async with asyncio.timeout(20):
            await shelf.sought.wait()
        for _ in range(100):
            await asyncio.sleep(0)
        assert shelf.asked == []
        shelf.looks.set()
        await s.until(lambda: s.screen.conversation.session is cast(Session, other))
        assert shelf.asked == ["open b2"]


async def test_two_sessions_chosen_at_once_come_one_after_the_other_and_keys_are_heard_then() -> None:
    shelf = FakeShelf(stored("a1", "one"), stored("b2", "two"))
    for name in ("a1", "b2"):
        shelf.opened[name] = FakeSession()
        shelf.opened[name].id = name
    async with shelved(shelf) as s:
        for name in ("a1", "b2", "b2"):
            await s.app.run_action(f"app.start_session({name!r})")
        await s.until(lambda: s.screen.conversation.session is cast(Session, shelf.opened["b2"]))
        await s.pilot.press(*"hello")
        await s.until(lambda: s.screen.prompt.whole_text == "hello")
        assert shelf.asked == ["open a1", "open b2"]


async def test_keys_that_are_letters_are_not_offered_while_letters_are_typed() -> None:
    async with shelved(FakeShelf(stored("a1", "one"), stored("b2", "two"))) as s:
        await s.app.run_action("screen.sessions")
        await listed(s)
        await s.until(lambda: "d d delete  u undelete  Tab all folders" in s.drawn())
        await s.pilot.press("/", "o")
        await s.until(lambda: "Enter open  Tab all folders  Esc end filter" in s.drawn())
        await s.pilot.press("escape", "r")
        await s.until(lambda: "Enter keep  Esc cancel" in s.drawn())
        await s.pilot.press("escape")
        await s.until(lambda: "d d delete  u undelete" in s.drawn())


async def test_a_deleted_session_is_brought_back_by_key() -> None:
    shelf = FakeShelf(stored("a1", "one"), stored("b2", "two"))
    async with shelved(shelf) as s:
        await s.app.run_action("screen.sessions")
        picker = await listed(s)
        await s.pilot.press("d", "d")
        await s.until(lambda: "“one” is deleted: u brings it back" in s.drawn())
        await s.pilot.press("u")
        await s.until(lambda: "“one” is back." in s.drawn())
        assert (shelf.asked, picker.list.marked and picker.list.marked.key) == (
            ["delete a1", "restore a1"],
            "a1",
        )
        shelf.problem = "There is no deleted session to bring back."
        await s.pilot.press("u")
        await s.until(lambda: "There is no deleted session to bring back." in s.drawn())


async def test_why_a_search_failed_is_told_and_titles_are_found_still() -> None:
    shelf = FakeShelf(stored("a1", "heron"), stored("b2", "egret"))
    async with shelved(shelf) as s:
        await s.app.run_action("screen.sessions")
        picker = await listed(s)
        shelf.problem = "The disk is full."
        await s.pilot.press("/", *"heron")
        await s.until(lambda: "The disk is full." in s.drawn() and "1 of 2" in s.drawn())
        assert picker.list.marked is not None and picker.list.marked.key == "a1"
