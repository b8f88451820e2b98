"""Update the row of a sub-agent from its events."""

from dataclasses import replace

from coder_tui.protocol.events import (
    ChildEvent,
    RequestClosed,
    RequestOpened,
    RetryScheduled,
    SubagentFinished,
    SubagentStarted,
    ToolFinished,
    ToolStarted,
    TurnStarted,
    UsageUpdated,
)
from coder_tui.protocol.outcomes import Outcome
from coder_tui.protocol.subagents import ChildLine, ChildState

LONGEST_TASK = 200
THINKING = "thinking"


def first_line(text: str) -> str:
    """Return the part of an objective that a row shows."""
    return text[: 10 * LONGEST_TASK].strip().partition("\n")[0][:LONGEST_TASK]


def initial_line(child_id: str, agent: str, event: SubagentStarted) -> ChildLine:
    return ChildLine(child_id, agent, first_line(event.objective))


def updated_line(line: ChildLine, event: ChildEvent) -> ChildLine:
    """Return the row after an event, or the same object if nothing in it changes."""
    match event:
        case SubagentFinished(state, summary, duration_ms):
            seconds = round(duration_ms / 1000)
            return replace(line, state=state, summary=summary, doing="", seconds=seconds)
        case TurnStarted():
            return replace(line, state=ChildState.RUNNING, doing=THINKING)
        case ToolStarted(_, tool, _, summary):
            return replace(line, doing=f"{tool}  {summary}".rstrip())
        case ToolFinished(_, tool, Outcome.DENIED, summary):
            return replace(line, doing=f"denied: {tool}  {summary}".rstrip())
        case RetryScheduled(_, _, reason):
            return replace(line, doing=reason)
        case UsageUpdated(turn) if turn.cost != line.cost:
            return replace(line, cost=turn.cost)
        case RequestOpened(request) if not line.state.is_over:
            return replace(line, state=ChildState.WAITING, doing=f"{request.tool}  {request.summary}")
        case RequestClosed() if line.state is ChildState.WAITING:
            return replace(line, state=ChildState.RUNNING)
        case _:
            return line
