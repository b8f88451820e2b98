"""Pictures of the lists to choose from; look at them when they change."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from coder_tui.ui.app import CoderApp
from coder_tui.ui.screens.picker import PickerScreen
from coder_tui.ui.themes import own_themes
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for
from tests.fakes.shelf import FakeShelf, stored
from tests.ui.test_snapshots import EARLIER, SnapCompare

SHELF = FakeShelf(
    stored("a1", "make div() safe and add a test", 2),
    stored("b2", "read invoices as CSV, whatever the separator is and wherever the decimal comma", 30),
    stored("s-1", "present work", 1),
)

LAST = {
    "screen.sessions": "present work",
    "screen.models": "ollama/qwen",
    "screen.themes": "solarized-light",
    "screen.modes": "makes a plan",
    "screen.agents": "changes nothing",
}
"""What shows once all is there."""


def prepared(action: str) -> tuple[CoderApp, Callable[[Pilot[int]], Awaitable[None]]]:
    session = FakeSession(Path("/srv/project"), EARLIER)
    app = CoderApp(replace(launch_for(session), shelf=lambda: SHELF))

    async def ready(pilot: Pilot[int]) -> None:
        s = Stage(app, pilot, session)
        await s.until(lambda: app.session_screen.conversation.session is not None and "denied" in s.drawn())
        await s.until(lambda: len(own_themes(app)) > 1)
        await app.run_action(action)
        await s.until(lambda: isinstance(app.screen, PickerScreen) and app.screen.list.marked is not None)
        await s.until(lambda: LAST[action] in s.drawn())
        await pilot.pause()

    return app, ready


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["80x24", "140x40"])
@pytest.mark.parametrize("action", LAST)
def test_a_list_looks_right(snap_compare: SnapCompare, action: str, size: tuple[int, int]) -> None:
    app, ready = prepared(action)
    assert snap_compare(app, terminal_size=size, run_before=ready)
