"""`!command` in the prompt."""

import asyncio
from typing import Any, cast

import pytest
from textual import events

from coder_tui.agent.session import Session
from coder_tui.ui.app import CoderApp
from coder_tui.ui.launch import Launch
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, stage


def burst(s: Stage, *keys: str) -> None:
    for key in keys:
        character = {"enter": "\r", "space": " "}.get(key, key if len(key) == 1 else None)
        s.app.post_message(events.Key("space" if key == " " else key, character))


@pytest.mark.parametrize(
    ("typed", "ran"), [("!git status", ("git status", False)), ("!! make test ", ("make test", True))]
)
async def test_a_command_runs_and_is_not_sent_as_a_message(typed: str, ran: tuple[str, bool]) -> None:
    async with stage() as s:
        burst(s, *typed, "enter")
        await s.until(lambda: s.session.shell.ran == [ran])
        assert (s.session.submitted, s.draft) == ([], "")


async def test_the_first_command_hides_the_welcome() -> None:
    async with stage() as s:
        await s.shows("Describe what you want done.")
        burst(s, *"!ls", "enter")
        await s.until(lambda: s.session.shell.ran == [("ls", False)])
        await s.until(lambda: "Describe what you want done." not in s.drawn())


async def test_escape_stops_the_command_before_the_turn() -> None:
    async with stage() as s:
        burst(s, *"go", "enter", *"!hang", "enter", "escape")
        await s.until(lambda: s.session.shell.stopped == ["hang"])
        assert s.session.interrupts == 0
        burst(s, "ctrl+c")
        await s.until(lambda: s.session.interrupts == 1)


@pytest.mark.parametrize("typed", ["!", "!!", "wow!"])
async def test_a_mark_alone_is_a_message(typed: str) -> None:
    async with stage() as s:
        burst(s, *typed, "enter")
        await s.until(lambda: s.session.submitted == [typed])


async def test_a_command_that_comes_too_early_stays_in_the_prompt() -> None:
    session, gate = FakeSession(), asyncio.Event()

    async def slow() -> Session:
        await gate.wait()
        return cast(Session, session)

    app: Any = CoderApp(Launch(session.directory, "coder-dark", False, slow))
    async with app.run_test() as pilot:
        s = Stage(app, pilot, session)
        burst(s, *"!ls", "enter")
        await s.until(lambda: s.draft == "!ls" and "still being opened" in s.drawn())
        gate.set()
        await s.until(lambda: s.screen.widgets.sender.session is not None)


async def test_a_running_command_ends_with_the_program() -> None:
    async with stage() as s:
        burst(s, *"!hang", "enter", *"/quit", "enter")
        await s.until(lambda: s.session.is_closed)
        assert s.session.shell.stopped == ["hang"]
