"""Pictures of questions, a plan and the list of what waits; look at them when they change."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from coder_tui.protocol.events import RequestOpened
from coder_tui.protocol.requests import Request
from coder_tui.ui.app import CoderApp
from coder_tui.ui.screens.armed import ArmedScreen
from tests.fakes.fake_session import FakeSession
from tests.fakes.questions import plan, questions
from tests.fakes.screens import Stage, launch_for, shell_request
from tests.ui.test_snapshots import SnapCompare

SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["80x24", "140x40"])
Ready = Callable[[Pilot[int]], Awaitable[None]]


def prepared(*requests: Request, keys: tuple[str, ...] = ()) -> tuple[CoderApp, Ready]:
    session = FakeSession(Path("/srv/project"))
    app = CoderApp(launch_for(session))

    async def ready(pilot: Pilot[int]) -> None:
        s = Stage(app, pilot, session)
        await s.until(lambda: app.session_screen.conversation.session is not None)
        session.emit(*map(RequestOpened, requests))
        for key in ("", *keys):
            if key:
                await pilot.press(key)
            await s.until(lambda: isinstance(app.screen, ArmedScreen) and app.screen.is_ready)
            await pilot.pause()

    return app, ready


@SIZES
def test_a_page_of_questions_looks_right(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app, ready = prepared(questions(), keys=("down", "enter", "space", "down"))
    assert snap_compare(app, terminal_size=size, run_before=ready)


@SIZES
def test_the_review_of_answers_looks_right(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app, ready = prepared(questions(), keys=("down", "enter", "ctrl+y"))
    assert snap_compare(app, terminal_size=size, run_before=ready)


@SIZES
def test_a_plan_looks_right(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app, ready = prepared(plan())
    assert snap_compare(app, terminal_size=size, run_before=ready)


@SIZES
def test_the_list_of_what_waits_looks_right(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    requests = (
        shell_request("r1", "npm test"),
        replace(shell_request("r2", "rg TODO"), agent="explore"),
        questions(),
        plan(),
    )
    app, ready = prepared(*requests, keys=("f8", "space"))
    assert snap_compare(app, terminal_size=size, run_before=ready)
