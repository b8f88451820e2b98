"""An earlier message is edited and sent again: the draft, the fork, and the ways back."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import cast

from coder_tui.agent.session import Session
from coder_tui.protocol.events import MessageFinished, UserMessageAdded
from coder_tui.ui.session.composing import SENT_IN_A_FORK
from tests.fakes.fake_session import FakeSession
from tests.fakes.library import FakeLibrary
from tests.fakes.screens import Stage, launch_for, stage

EARLIER = (
    UserMessageAdded("u1", "first"),
    MessageFinished("m1", "one", ""),
    UserMessageAdded("u2", "second"),
    MessageFinished("m2", "two", ""),
)


@asynccontextmanager
async def talked() -> AsyncIterator[tuple[Stage, FakeLibrary, FakeSession]]:
    """Two turns were made; the fork is ready to be opened."""
    session = FakeSession(earlier=EARLIER)
    session.forks.words = {"u1": "first\nin full", "u2": "second"}
    library = FakeLibrary()
    library.opened["fork"] = fork = FakeSession(earlier=EARLIER[:2])
    fork.id = "fork"
    async with stage(session, (80, 24), replace(launch_for(session), library=lambda: library)) as s:
        yield s, library, fork


async def test_a_message_is_edited_and_sent_in_a_fork_and_the_draft_is_kept() -> None:
    async with talked() as (s, library, fork):
        await s.pilot.press(*"dra", "tab", "K", "u")
        assert s.draft == "second"
        await s.until(lambda: SENT_IN_A_FORK in s.drawn())
        await s.pilot.press("!", "enter")
        await s.until(lambda: fork.submitted == ["second!"])
        assert (s.session.forks.made, library.asked, s.session.submitted) == (["u2"], ["open fork"], [])
        await s.until(lambda: s.screen.widgets.sender.session is cast(Session, fork))
        await s.until(lambda: "This is a fork." in s.drawn() and SENT_IN_A_FORK not in s.drawn())
        assert s.draft == "dra"


async def test_escape_leaves_everything_as_it_was() -> None:
    async with talked() as (s, _, _):
        await s.pilot.press(*"dra", "tab", "K", "K", "u")
        assert s.draft == "first\nin full"
        await s.pilot.press("escape")
        await s.until(lambda: SENT_IN_A_FORK not in s.drawn())
        assert s.draft == "dra"
        await s.pilot.press("enter")
        await s.until(lambda: s.session.submitted == ["dra"])
        assert s.session.forks.made == []


async def test_an_emptied_prompt_forks_nothing() -> None:
    async with talked() as (s, _, _):
        await s.pilot.press("tab", "K", "u", "ctrl+c")
        await s.until(lambda: SENT_IN_A_FORK not in s.drawn())
        await s.pilot.press(*"new", "enter")
        await s.until(lambda: s.session.submitted == ["new"])
        assert s.session.forks.made == []


async def test_only_a_message_of_the_user_can_be_sent_again() -> None:
    async with talked() as (s, _, _):
        await s.pilot.press("tab", "u")
        await s.shows("Mark one of your messages first")
        assert s.draft == ""


async def test_a_message_that_could_not_be_sent_returns_to_the_prompt() -> None:
    async with talked() as (s, library, _):
        s.session.forks.problem = "the disk is full"
        await s.pilot.press("tab", "K", "u", "!", "enter")
        await s.shows("the disk is full")
        assert s.draft == "second!"
        s.session.forks.problem, library.problem = "", "the store is closed"
        await s.pilot.press("ctrl+c", "tab", "K", "u", "?", "enter")
        await s.shows("the store is closed")
        assert s.draft == "second?"
