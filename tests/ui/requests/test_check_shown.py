"""The project's check on the screen: a live row and the status."""

import pytest

from coder_tui.protocol.access import VERIFY, ToolKind
from coder_tui.protocol.display import DisplayBlock, TerminalBlock, TextBlock
from coder_tui.protocol.events import Event, ToolFinished, ToolProgressed, ToolStarted, TurnStarted
from coder_tui.protocol.outcomes import Outcome
from tests.fakes.screens import Stage, stage

STARTED = ToolStarted("verify-1", VERIFY, ToolKind.EXECUTE, "make test")
LINES = "".join(f"line {number}\n" for number in range(40))


def finished(outcome: Outcome, display: DisplayBlock) -> ToolFinished:
    return ToolFinished("verify-1", VERIFY, outcome, "make test", display, 3_000)


def row(s: Stage) -> str:
    return next(line for line in s.drawn().splitlines() if "make test" in line)


def status(s: Stage) -> str:
    return s.drawn().splitlines()[-1]


@pytest.mark.parametrize(
    ("before", "after"), [((), ""), ((TurnStarted(1),), "working")], ids=["at rest", "in a turn"]
)
async def test_a_running_check_counts_its_seconds_and_shows_what_it_prints(
    before: tuple[Event, ...], after: str
) -> None:
    async with stage() as s:
        s.session.emit(*before, STARTED, ToolProgressed("verify-1", "collecting 12 tests\n"))
        await s.until(lambda: "collecting 12 tests" in s.drawn() and "checking, Esc to stop" in status(s))
        assert s.screen.transcript.calls.is_ticking
        assert "running" in row(s)
        s.session.emit(finished(Outcome.OK, TerminalBlock("make test", LINES, 0)))
        await s.until(lambda: "checking" not in status(s))
        assert after in status(s)
        assert not s.screen.transcript.calls.is_ticking


@pytest.mark.parametrize(
    ("outcome", "display", "end"),
    [
        (Outcome.OK, TerminalBlock("make test", LINES, 0), "▸ 40 lines exit 0 3.0s"),
        (Outcome.FAILED, TerminalBlock("make test", LINES, 2), "exit 2 3.0s"),
        (Outcome.CANCELLED, TextBlock("stopped"), "stopped 3.0s"),
    ],
    ids=["passed", "failed", "stopped"],
)
async def test_the_row_shows_how_the_check_ended(outcome: Outcome, display: DisplayBlock, end: str) -> None:
    async with stage(size=(100, 70)) as s:
        s.session.emit(STARTED, finished(outcome, display))
        await s.shows("make test")
        assert " ".join(row(s).split()).endswith(f"verify make test {end}")
