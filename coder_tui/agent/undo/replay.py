"""Turns a stored session back into the events that once built its screen.

A stored session as it may be shown again: step by step, each with the moments it is made of.

What was said in a session before, as events that build its screen; read again when the store changed.

Remembers commands that ran beside the conversation: what is stored does not have them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coder_tui.agent.attachments.custom_command import INSERT
from coder_tui.agent.attachments.files import told
from coder_tui.agent.context.budget import filled_by
from coder_tui.protocol.access import PERSON, VERIFY, ToolKind
from coder_tui.protocol.display import SubagentsBlock, TextBlock
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
from coder_tui.protocol.messages import AssistantMessage, ToolCall, ToolMessage, Usage, UserMessage
from coder_tui.protocol.outcomes import Outcome, TurnOutcome
from coder_tui.protocol.subagents import ChildLine
from coder_tui.storage.store import StoredCall, StoredSession

if TYPE_CHECKING:
    from coder_tui.agent.session import SessionParts


def replay(stored: StoredSession) -> Iterator[Event]:
    """Finished things only, in the order in which they were said."""
    for message in stored.messages:
        match message:
            case UserMessage():
                yield from told(message)
            case AssistantMessage():
                thinking = "".join(block.text for block in message.thinking)
                if message.text or thinking:
                    yield MessageFinished(message.id, message.text, thinking)
                for call in message.calls:
                    children = stored.children.get(call.id, ())
                    yield _finished(call, stored.calls.get(call.id), children)
            case ToolMessage():
                pass


def _finished(call: ToolCall, stored: StoredCall | None, children: tuple[ChildLine, ...]) -> ToolFinished:
    if stored is None or stored.outcome is None or stored.display is None:
        return ToolFinished(call.id, call.name, Outcome.CANCELLED, "", TextBlock("not run"), 0)
    # What sub-agents came to says more than that their call was stopped.
    display = SubagentsBlock(children) if children else stored.display
    return ToolFinished(
        call.id, stored.record.tool, stored.outcome, stored.summary, display, stored.duration_ms
    )


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


MOST = 200
"""Rows; older ones are given up."""
_LABELS = frozenset({VERIFY, INSERT, PERSON})


class RowsBeside:
    """Each with what stood before it: where that is gone, taken back, so is the row, until it is back."""

    def __init__(self, earlier: Iterable[Event]) -> None:
        self._rows: list[tuple[str, ToolFinished]] = []
        self._last = ""
        for event in earlier:
            self.hear(event)

    def hear(self, event: Event) -> None:
        if isinstance(event, ToolFinished) and _is_beside(event):
            self._rows = [*self._rows[1 - MOST :], (self._last, event)]
        elif key := _key(event):
            self._last = key

    def among(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events of the conversation with those rows at their places."""
        self._last = ""
        yield from self._behind("")
        for event in events:
            yield event
            if key := _key(event):
                self._last = key
                yield from self._behind(key)

    def _behind(self, key: str) -> Iterator[Event]:
        return (row for place, row in self._rows if place == key)


def _is_beside(event: ToolFinished) -> bool:
    return event.tool in _LABELS and event.call_id.startswith(f"{event.tool}-")


def _key(event: Event) -> str:
    match event:
        case UserMessageAdded(id) | MessageFinished(id):
            return id
        case ToolFinished():
            return event.call_id
        case _:
            return ""


class Past:
    def __init__(self, parts: "SessionParts") -> None:
        self._parts = parts
        self.events: tuple[Event, ...] = parts.earlier
        self._beside = RowsBeside(parts.earlier)
        parts.bus.subscribe(self._beside.hear)

    async def reload(self) -> None:
        """Turns were taken back, or made again: model and screen go by what counts now."""
        stored = await self._parts.store.load(self._parts.info.id)
        self._parts.services.conversation.replace(stored.messages, stored.compactions)
        self._parts.take_todos(stored.todos)
        services, meter = self._parts.services, self._parts.services.meter
        meter.context_tokens = filled_by(services.conversation, services.request)
        self._parts.bus.publish(meter.snapshot())
        self.events = tuple(self._beside.among(replay(stored)))
