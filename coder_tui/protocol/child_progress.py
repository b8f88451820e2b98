"""How a sub-agent's row changes with what happens in it, wherever the row is kept."""

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
    """What a row shows of an objective."""
    return text[: 10 * LONGEST_TASK].strip().partition("\n")[0][:LONGEST_TASK]


def begun(child_id: str, agent: str, event: SubagentStarted) -> ChildLine:
    return ChildLine(child_id, agent, first_line(event.objective))


def followed(line: ChildLine, event: ChildEvent) -> ChildLine:
    """The row after an event; the very same row where the event changes nothing in it."""
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
