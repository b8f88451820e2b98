"""The list of sessions: search, delete, restore."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import cast

from textual import events

from coder_tui.agent.session import Session
from coder_tui.ui.lists.sessions import SessionsScreen
from tests.fakes.fake_session import FakeSession
from tests.fakes.library import FakeLibrary, stored
from tests.fakes.screens import Stage, launch_for, stage


@asynccontextmanager
async def with_library(library: FakeLibrary) -> AsyncIterator[Stage]:
    session = FakeSession()
    async with stage(session, (100, 30), replace(launch_for(session), library=lambda: library)) as s:
        yield s


async def listed(s: Stage) -> SessionsScreen:
    await s.until(lambda: isinstance(s.app.screen, SessionsScreen))
    top = s.app.screen
    assert isinstance(top, SessionsScreen)
    await s.until(lambda: top.list.marked is not None)
    return top


async def test_typing_searches_titles_and_messages() -> None:
    library = FakeLibrary(stored("a1", "prices"), stored("b2", "heron"), stored("c3", "birds"))
    library.said["c3"] = "there was a heron in it"
    async with with_library(library) as s:
        await s.app.run_action("screen.run('sessions')")
        await listed(s)
        await s.pilot.press("/", *"heron")
        await s.until(lambda: "2 of 3" in s.drawn() and "prices" not in s.drawn())
        await s.pilot.press("ctrl+u", *"heron in")
        await s.until(lambda: "there was a heron in it  c3" in s.drawn() and "1 of 3" in s.drawn())
        await s.pilot.press("escape")
        await s.shows("prices")


async def test_a_session_that_another_program_has_open_is_marked() -> None:
    library = FakeLibrary(stored("a1", "prices"), stored("b2", "heron"))
    library.elsewhere = frozenset({"b2"})
    async with with_library(library) as s:
        await s.app.run_action("screen.run('sessions')")
        await listed(s)
        rows = [line for line in s.drawn().splitlines() if "14 msg" in line]
        assert ["in use" in row for row in rows] == [False, True]


async def test_search_by_command_looks_in_all_folders() -> None:
    library = FakeLibrary(stored("a1", "prices"), stored("b2", "birds", 1, "/srv/x"))
    library.said["b2"] = "an egret, too"
    async with with_library(library) as s:
        await s.pilot.press(*"/search egret", "enter")
        await listed(s)
        await s.until(lambda: "an egret, too" in s.drawn() and "/srv/x" in s.drawn())
        assert "prices" not in s.drawn()


async def test_sessions_with_matching_messages_are_sorted_newest_first() -> None:
    library = FakeLibrary(
        stored("a1", "a long title of a day"), stored("b2", "egrets"), stored("c3", "short")
    )
    library.said = {"a1": "an egret", "c3": "no egret"}
    async with with_library(library) as s:
        await s.pilot.press(*"/search egret", "enter")
        await listed(s)
        await s.until(lambda: "3" in s.drawn().partition("/egret_")[2][:80])
        rows = [line for line in s.drawn().splitlines() if " msg " in line]
        titles = ("a long title of a day", "short", "egrets")
        assert [title in row for title, row in zip(titles, rows, strict=True)] == [True] * 3


async def test_search_by_command_needs_a_text() -> None:
    async with with_library(FakeLibrary()) as s:
        await s.pilot.press(*"/search", "escape", "enter")
        await s.shows("Name what to look for: /search WORDS")


async def test_enter_waits_for_the_search_of_the_letters_before_it() -> None:
    library = FakeLibrary(stored("a1", "a h e r o n"), stored("b2", "birds"))
    library.said["b2"] = "aheron"
    library.opened["b2"] = other = FakeSession()
    other.id = "b2"
    async with with_library(library) as s:
        await s.app.run_action("screen.run('sessions')")
        await listed(s)
        library.looks.clear()
        for key in (*"aheron", "enter"):
            s.app.post_message(events.Key(key, key if len(key) == 1 else None))
        # Not by the pilot: it waits for the program, which waits for the search.
        async with asyncio.timeout(20):
            await library.sought.wait()
        for _ in range(100):
            await asyncio.sleep(0)
        assert library.asked == []
        library.looks.set()
        await s.until(lambda: s.screen.widgets.sender.session is cast(Session, other))
        assert library.asked == ["open b2"]


async def test_two_sessions_chosen_at_once_open_one_after_the_other() -> None:
    library = FakeLibrary(stored("a1", "one"), stored("b2", "two"))
    for name in ("a1", "b2"):
        library.opened[name] = FakeSession()
        library.opened[name].id = name
    async with with_library(library) as s:
        for name in ("a1", "b2", "b2"):
            s.app.switch.start(name)
        await s.until(lambda: s.screen.widgets.sender.session is cast(Session, library.opened["b2"]))
        await s.pilot.press(*"hello")
        await s.until(lambda: s.screen.prompt.whole_text == "hello")
        assert library.asked == ["open a1", "open b2"]


async def test_letter_keys_are_not_offered_while_typing() -> None:
    async with with_library(FakeLibrary(stored("a1", "one"), stored("b2", "two"))) as s:
        await s.app.run_action("screen.run('sessions')")
        await listed(s)
        await s.shows("d d delete  u undelete  Tab all folders")
        await s.pilot.press("/", "o")
        await s.shows("Enter open  Tab all folders  Esc end filter")
        await s.pilot.press("escape", "r")
        await s.shows("Enter save  Esc cancel")
        await s.pilot.press("escape")
        await s.shows("d d delete  u undelete")


async def test_a_deleted_session_is_restored_by_key() -> None:
    library = FakeLibrary(stored("a1", "one"), stored("b2", "two"))
    async with with_library(library) as s:
        await s.app.run_action("screen.run('sessions')")
        picker = await listed(s)
        await s.pilot.press("d", "d")
        await s.shows("“one” was deleted. Press u to restore it.")
        await s.pilot.press("u")
        await s.shows("“one” was restored.")
        assert (library.asked, picker.list.marked and picker.list.marked.key) == (
            ["delete a1", "restore a1"],
            "a1",
        )
        library.problem = "There is no deleted session to restore."
        await s.pilot.press("u")
        await s.shows("There is no deleted session to restore.")


async def test_a_failed_search_is_reported_and_titles_are_still_found() -> None:
    library = FakeLibrary(stored("a1", "heron"), stored("b2", "egret"))
    async with with_library(library) as s:
        await s.app.run_action("screen.run('sessions')")
        picker = await listed(s)
        library.problem = "The disk is full."
        await s.pilot.press("/", *"heron")
        await s.until(lambda: "The disk is full." in s.drawn() and "1 of 2" in s.drawn())
        assert picker.list.marked is not None and picker.list.marked.key == "a1"
