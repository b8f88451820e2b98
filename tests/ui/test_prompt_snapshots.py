"""Pictures of the prompt with its suggestions; look at them when they change."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

import pytest
from textual import events
from textual.pilot import Pilot

from coder_tui.protocol.events import Event, MessageFinished, UserMessageAdded
from coder_tui.ui.app import CoderApp
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for

EARLIER: tuple[Event, ...] = (
    UserMessageAdded("u1", "make div() safe"),
    MessageFinished("m1", "Done: `calc.py` raises now.\n", ""),
)
NAMES = (
    "calc.py",
    "docs/calculator.md",
    "tests/test_calc.py",
    "src/shop/calculation/very/deep/folders/of/a/large/project/calculate_the_total.py",
    "数学/calc_計算.py",
)
LONG = "line\n" * 120


class SnapCompare(Protocol):
    def __call__(
        self,
        app: CoderApp,
        *,
        terminal_size: tuple[int, int],
        run_before: Callable[[Pilot[int]], Awaitable[None]],
    ) -> bool: ...


@pytest.mark.parametrize("typed", ["look at @calc", "/co"], ids=["files", "commands"])
@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["80x24", "140x40"])
def test_suggestions_look_right(
    snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int], typed: str
) -> None:
    for name in NAMES:
        (tmp_path / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "project" / name).write_text("x")
    session = FakeSession(Path("/srv/project"), EARLIER)
    app = CoderApp(launch_for(session))

    async def ready(pilot: Pilot[int]) -> None:
        s = Stage(app, pilot, session)
        await s.until(lambda: s.screen.conversation.session is not None and "Done" in s.drawn())
        # Shown is one folder, listed another: a picture must not hold the name of a passing one.
        s.screen._directory = tmp_path / "project"
        app.post_message(events.Paste(LONG))
        await s.until(lambda: s.draft != "")
        await pilot.press("space" if typed[0] != "/" else "ctrl+c", *typed)
        await s.until(
            lambda: s.screen.composing.completer.is_open and s.screen.composing.completer.is_settled
        )
        await pilot.press("down")

    assert snap_compare(app, terminal_size=size, run_before=ready)
