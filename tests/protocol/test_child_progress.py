"""The row of a sub-agent follows its events."""

from dataclasses import replace

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.child_progress import initial_line, updated_line
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.events import (
    ChildEvent,
    RequestClosed,
    RequestOpened,
    SubagentFinished,
    SubagentStarted,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnStarted,
    UsageUpdated,
)
from coder_tui.protocol.messages import Usage
from coder_tui.protocol.outcomes import Outcome
from coder_tui.protocol.requests import ApprovalRequest
from coder_tui.protocol.subagents import ChildLine, ChildState

LINE = ChildLine("k", "explore", "find it", ChildState.RUNNING, "thinking")
ASKS = ApprovalRequest("r", "c", "bash", ToolKind.EXECUTE, "Run?", TextBlock(""), summary="make")


def after(*events: ChildEvent) -> ChildLine:
    line = LINE
    for event in events:
        line = updated_line(line, event)
    return line


def test_it_begins_with_the_first_line_of_its_objective() -> None:
    started = SubagentStarted("  find it\nand more", "m")
    assert initial_line("k", "explore", started) == ChildLine("k", "explore", "find it", ChildState.QUEUED)


def test_it_shows_what_it_does() -> None:
    queued = initial_line("k", "explore", SubagentStarted("find it", "m"))
    assert updated_line(queued, TurnStarted(1)) == LINE
    assert after(ToolStarted("c", "grep", ToolKind.SEARCH, "needle")).doing == "grep  needle"


def test_a_denied_call_is_shown() -> None:
    denied = ToolFinished("c", "write", Outcome.DENIED, "a.txt", TextBlock("no"), 1)
    assert after(denied).doing == "denied: write  a.txt"


def test_it_waits_for_the_user_and_continues() -> None:
    waiting = after(RequestOpened(ASKS))
    assert (waiting.state, waiting.doing) == (ChildState.WAITING, "bash  make")
    assert after(RequestOpened(ASKS), RequestClosed("r", None)).state is ChildState.RUNNING


def test_its_cost_and_its_end_are_shown() -> None:
    usage = UsageUpdated(Usage(cost=0.5), Usage(cost=9.0), 10, None)
    assert after(usage, SubagentFinished(ChildState.OK, "found", 2600)) == replace(
        LINE, state=ChildState.OK, doing="", summary="found", seconds=3, cost=0.5
    )


def test_a_piece_of_text_leaves_the_same_row() -> None:
    assert after(TextDelta("m", "word")) is LINE
