"""What all request dialogs have in common: ASCII symbols, small terminals, Esc."""

import pytest

from coder_tui.protocol.events import RequestOpened
from coder_tui.protocol.requests import Request
from coder_tui.ui.requests.guarded_screen import RequestScreen
from tests.fakes.fake_session import FakeSession
from tests.fakes.questions import plan, questions
from tests.fakes.screens import Stage, launch_for, shell_request, stage

SHELLS = (shell_request("r1", "make 1"), shell_request("r2", "make 2"))
CASES = pytest.mark.parametrize(
    ("requests", "keys"),
    [
        ((questions(),), ("2", "enter", "tab", "x", "enter")),
        ((questions(),), ("ctrl+y", "enter")),
        ((plan(),), ("y",)),
        ((SHELLS[0],), ("question_mark",)),
        (SHELLS, ("f8", "space")),
        (SHELLS, ("f8", "a", "ctrl+y")),
    ],
    ids=["questions", "review", "plan", "why", "list", "together"],
)


async def settled(s: Stage) -> None:
    await s.until(lambda: isinstance(s.app.screen, RequestScreen) and s.app.screen.is_ready)
    await s.pilot.pause()


async def shown(s: Stage, requests: tuple[Request, ...], keys: tuple[str, ...]) -> None:
    s.session.emit(*map(RequestOpened, requests))
    await settled(s)
    for key in keys:
        # One by one, as a user does who reads: a burst would be taken for typing and given back.
        await s.pilot.press(key)
        await settled(s)


@CASES
async def test_an_ascii_terminal_gets_ascii_symbols(
    requests: tuple[Request, ...], keys: tuple[str, ...]
) -> None:
    session = FakeSession()
    async with stage(session, size=(80, 24), launch=launch_for(session, use_ascii=True)) as s:
        await shown(s, requests, keys)
        assert s.drawn().isascii()


@CASES
async def test_a_terminal_that_gets_too_small_docks_the_dialog(
    requests: tuple[Request, ...], keys: tuple[str, ...]
) -> None:
    async with stage() as s:
        await shown(s, requests, keys)
        await s.pilot.resize_terminal(40, 10)
        await settled(s)
        await s.pilot.resize_terminal(1, 1)
        await s.until(lambda: s.app.screen is s.screen)
        await s.pilot.resize_terminal(80, 24)
        assert s.session.answers == []
