"""A stored session as it may be shown again: step by step, each with the moments it is made of."""

from collections.abc import Iterator
from dataclasses import dataclass

from coder_tui.agent.replay import replay
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.events import (
    Event,
    MessageFinished,
    ModelChanged,
    SessionStarted,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    UsageUpdated,
    UserMessageAdded,
)
from coder_tui.protocol.messages import AssistantMessage
from coder_tui.protocol.outcomes import TurnOutcome
from coder_tui.protocol.usage import Usage
from coder_tui.storage.sessions import StoredSession

PIECE = 24
"""Characters that appear at once."""
_PIECES = 60
"""How many at most a reply is made of: a long one is not slower than that."""
READING = 1.0
WRITING = 0.04
LONGEST_CALL = 1.5
_BETWEEN = 0.3


@dataclass(frozen=True, slots=True)
class Moment:
    """An event, and the seconds that pass before the next one.

    One that `is_passing` leaves nothing behind that a later one of its step does not show, too.
    """

    event: Event
    pause: float = 0.0
    is_passing: bool = False


Step = tuple[Moment, ...]


def tape(stored: StoredSession) -> tuple[Step, ...]:
    """First what the screen knows before anything is said; each further step is a message or a call."""
    return tuple(_steps(stored))


def _steps(stored: StoredSession) -> Iterator[Step]:
    info = stored.info
    started = SessionStarted(info.id, info.title, info.directory, info.model, info.mode, resumed=True)
    yield Moment(started), Moment(ModelChanged(info.model, None))
    usages = {each.id: each.usage for each in stored.messages if isinstance(each, AssistantMessage)}
    turn, paid = 0, Usage()
    for event in replay(stored):
        match event:
            case UserMessageAdded():
                ended = (Moment(TurnFinished(turn, TurnOutcome.DONE, "", 0)),) if turn else ()
                turn += 1
                yield *ended, Moment(event, READING)
            case MessageFinished():
                paid += usages.pop(event.message_id, Usage())
                yield *_written(event), Moment(event), Moment(UsageUpdated(Usage(), paid, 0, None), _BETWEEN)
            case ToolFinished():
                kind = stored.calls[event.call_id].record.kind if event.call_id in stored.calls else None
                begun = ToolStarted(event.call_id, event.tool, kind or ToolKind.OTHER, event.summary)
                took = min(LONGEST_CALL, event.duration_ms / 1000)
                yield Moment(begun, took, is_passing=True), Moment(event, _BETWEEN)
            case _:
                yield (Moment(event),)
    if turn:
        # As the whole session stands: what sub-agents used, too.
        paid_at_all = UsageUpdated(Usage(), stored.usage, 0, None)
        yield Moment(TurnFinished(turn, TurnOutcome.DONE, "", 0)), Moment(paid_at_all)


def _written(event: MessageFinished) -> Iterator[Moment]:
    size = max(PIECE, len(event.text) // _PIECES)
    for start in range(0, len(event.text), size):
        piece = TextDelta(event.message_id, event.text[start : start + size])
        yield Moment(piece, WRITING, is_passing=True)
