"""Pictures of sub-agents: the rows under their call, and the list of them; look at them when they change."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from coder_tui.protocol.display import SubagentsBlock
from coder_tui.protocol.events import Event, MessageFinished, ToolFinished, UserMessageAdded
from coder_tui.protocol.outcomes import Outcome
from coder_tui.protocol.subagents import ChildLine, ChildState
from coder_tui.ui.app import CoderApp
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for
from tests.fakes.snap_compare import SnapCompare

CHILDREN = (
    ChildLine(
        "k1",
        "explore",
        "where are invoices parsed",
        ChildState.OK,
        summary="`invoice/read.py:40` parses them.\nThe separator is guessed in `sniff()`.",
        seconds=14,
        cost=0.03,
    ),
    ChildLine(
        "k2", "general 1", "fix the decimal comma", ChildState.RUNNING, "edit  invoice/read.py", "", 95, 0.2
    ),
    ChildLine(
        "k3", "general 2", "add tests for it", ChildState.WAITING, "bash  pytest -q tests", "", 8, 0.004
    ),
    ChildLine("k4", "verify", "run everything", ChildState.QUEUED),
    ChildLine(
        "k5", "general 3", "bump the version", ChildState.FAILED, summary="The model did not answer: no key."
    ),
    ChildLine("k6", "general 4", "tidy up", ChildState.STOPPED, summary="Stopped by the user.", seconds=3),
)
EARLIER: tuple[Event, ...] = (
    UserMessageAdded("u", "Read invoices whatever their decimal comma is."),
    MessageFinished("m", "I will have it looked at from several sides at once.", ""),
    ToolFinished(
        "f", "fork", Outcome.FAILED, "6 tasks: explore, general, verify", SubagentsBlock(CHILDREN), 95_000
    ),
)


def prepared(*keys: str, shows: str) -> tuple[CoderApp, Callable[[Pilot[int]], Awaitable[None]]]:
    session = FakeSession(Path("/srv/project"), EARLIER)
    session.subagents.rows = CHILDREN
    app = CoderApp(launch_for(session))

    async def ready(pilot: Pilot[int]) -> None:
        s = Stage(app, pilot, session)
        await s.until(lambda: "tidy up" in s.drawn() or "Stopped by the user" in s.drawn())
        await pilot.press(*keys)
        await s.until(lambda: shows in s.drawn())
        await pilot.pause()

    return app, ready


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["80x24", "140x40"])
@pytest.mark.parametrize(
    ("keys", "shows"),
    [((), "general 4"), (("ctrl+o",), "sniff()"), (("alt+s",), "Enter")],
    ids=["tree", "reports", "list"],
)
def test_sub_agents_look_right(
    snap_compare: SnapCompare, keys: tuple[str, ...], shows: str, size: tuple[int, int]
) -> None:
    app, ready = prepared(*keys, shows=shows)
    assert snap_compare(app, terminal_size=size, run_before=ready)
