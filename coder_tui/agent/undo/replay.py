"""Turn a stored session into the events that build its screen: at once, or frame by frame for playback."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from coder_tui.agent.attachments.custom_command import INSERT
from coder_tui.agent.attachments.files import message_events
from coder_tui.agent.context.budget import filled_by
from coder_tui.agent.context.compaction import ModelContext
from coder_tui.protocol.access import BY_USER, VERIFY, ToolKind
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
from coder_tui.storage.store import Store, StoredCall, StoredSession
from coder_tui.tools.builtin.todo import TodoList


def replay(stored: StoredSession) -> Iterator[Event]:
    """Yield the events of what is finished, in order."""
    for message in stored.messages:
        match message:
            case UserMessage():
                yield from message_events(message)
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
    # The results of sub-agents say more than that their call was stopped.
    display = SubagentsBlock(children) if children else stored.display
    return ToolFinished(
        call.id, stored.record.tool, stored.outcome, stored.summary, display, stored.duration_ms
    )


PIECE = 24
"""Characters that appear at a time."""
_PIECES = 60
"""The most pieces of a reply: a long one takes no longer than that."""
READING = 1.0
WRITING = 0.04
LONGEST_CALL = 1.5
_BETWEEN = 0.3


@dataclass(frozen=True, slots=True)
class Frame:
    """An event, and the seconds before the next one.

    If it `is_passing`, a later frame of its step shows everything that it shows.
    """

    event: Event
    pause: float = 0.0
    is_passing: bool = False


Step = tuple[Frame, ...]


def playback_steps(stored: StoredSession) -> tuple[Step, ...]:
    """Return the steps of a playback: first the empty screen, then one message or call a step."""
    return tuple(_steps(stored))


def _steps(stored: StoredSession) -> Iterator[Step]:
    info = stored.info
    started = SessionStarted(info.id, info.title, info.directory, info.model, info.mode, resumed=True)
    yield Frame(started), Frame(ModelChanged(info.model, None))
    usages = {each.id: each.usage for each in stored.messages if isinstance(each, AssistantMessage)}
    turn, paid = 0, Usage()
    for event in replay(stored):
        match event:
            case UserMessageAdded():
                ended = (Frame(TurnFinished(turn, TurnOutcome.DONE, "", 0)),) if turn else ()
                turn += 1
                yield *ended, Frame(event, READING)
            case MessageFinished():
                paid += usages.pop(event.message_id, Usage())
                yield (
                    *_written(event),
                    Frame(event),
                    Frame(UsageUpdated(Usage(), paid, 0, None), _BETWEEN),
                )
            case ToolFinished():
                kind = stored.calls[event.call_id].record.kind if event.call_id in stored.calls else None
                begun = ToolStarted(event.call_id, event.tool, kind or ToolKind.OTHER, event.summary)
                took = min(LONGEST_CALL, event.duration_ms / 1000)
                yield Frame(begun, took, is_passing=True), Frame(event, _BETWEEN)
            case _:
                yield (Frame(event),)
    if turn:
        # The total of the session, with what sub-agents used.
        paid_at_all = UsageUpdated(Usage(), stored.usage, 0, None)
        yield Frame(TurnFinished(turn, TurnOutcome.DONE, "", 0)), Frame(paid_at_all)


def _written(event: MessageFinished) -> Iterator[Frame]:
    size = max(PIECE, len(event.text) // _PIECES)
    for start in range(0, len(event.text), size):
        piece = TextDelta(event.message_id, event.text[start : start + size])
        yield Frame(piece, WRITING, is_passing=True)


MOST = 200
"""Rows; older ones are dropped."""
_LABELS = frozenset({VERIFY, INSERT, BY_USER})


class OutOfTurnCommands:
    """Remembers commands that are not part of the stored conversation: checks, inserts, the user's own.

    Each row remembers the event it followed. If that event is undone, the row is hidden until it is redone.
    """

    def __init__(self, earlier: Iterable[Event]) -> None:
        self._rows: list[tuple[str, ToolFinished]] = []
        self._last = ""
        for event in earlier:
            self.record(event)

    def record(self, event: Event) -> None:
        if isinstance(event, ToolFinished) and _is_out_of_turn(event):
            self._rows = [*self._rows[1 - MOST :], (self._last, event)]
        elif key := _key(event):
            self._last = key

    def merge_into(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield the events of the conversation with the rows at their places."""
        self._last = ""
        yield from self._behind("")
        for event in events:
            yield event
            if key := _key(event):
                self._last = key
                yield from self._behind(key)

    def _behind(self, key: str) -> Iterator[Event]:
        return (row for place, row in self._rows if place == key)


def _is_out_of_turn(event: ToolFinished) -> bool:
    return event.tool in _LABELS and event.call_id.startswith(f"{event.tool}-")


def _key(event: Event) -> str:
    match event:
        case UserMessageAdded(id) | MessageFinished(id):
            return id
        case ToolFinished():
            return event.call_id
        case _:
            return ""


class DisplayHistory:
    """The events that build the screen of a session from what happened before."""

    def __init__(
        self, store: Store, context: ModelContext, todos: TodoList, earlier: tuple[Event, ...]
    ) -> None:
        self._store = store
        self._context = context
        self._todos = todos
        self.events = earlier
        self._commands = OutOfTurnCommands(earlier)
        context.bus.subscribe(self._commands.record)

    async def reload(self) -> None:
        """Read the store again after an undo or redo, for the model and for the screen."""
        context = self._context
        stored = await self._store.load(context.session_id)
        context.conversation.replace(stored.messages, stored.compactions)
        self._todos.restore(stored.todos)
        context.meter.context_tokens = filled_by(context.conversation, context.request)
        context.bus.publish(context.meter.snapshot())
        self.events = tuple(self._commands.merge_into(replay(stored)))
