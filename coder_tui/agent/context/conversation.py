"""The messages of a session, each stored before it counts; and the ids of its calls, packed in memory.

A model is sent the same bytes each time while no compaction comes or goes.
"""

import json
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from coder_tui.llm.client import estimate_message
from coder_tui.protocol.errors import StorageError
from coder_tui.protocol.messages import (
    AssistantMessage,
    Compaction,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from coder_tui.storage.transcript import MessageTable
from coder_tui.tasks import finish_despite_cancel
from coder_tui.text.packed import PackedList

LEFT_OUT = "This result was left out to save room. Call the tool again where you need it."
NOTE = "compaction-"
"""How the id of the message begins that stands for others."""
SKILL = "skill"
"""What this tool gave is never left out."""


def sent(messages: Sequence[Message], compactions: Sequence[Compaction]) -> tuple[Message, ...]:
    """Find the compactions that apply. A compaction of undone messages does not count."""
    return SentView().of(PackedList(messages), compactions)


def standing(
    messages: PackedList[Message], compactions: Sequence[Compaction]
) -> tuple[int, Compaction | None]:
    """The newest summary that counts, and how many messages it stands for."""
    by_last = {each.last_id: each for each in compactions if each.last_id}
    if by_last:
        for back, message in enumerate(reversed(messages)):
            if (found := by_last.get(message.id)) is not None:
                return len(messages) - back, found
    return 0, None


class SentView:
    """Remembers what it gave, so that each step of a long conversation costs only what is new in it."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """The conversation is another one: it did not only grow."""
        self._compactions: Sequence[Compaction] | None = None
        self._pruned = frozenset[str]()
        self._sent: list[Message] = []
        self._settled = 0

    def of(self, messages: PackedList[Message], compactions: Sequence[Compaction]) -> tuple[Message, ...]:
        if compactions is not self._compactions:
            self._begin(messages, compactions)
        new = messages.since(self._settled)
        ordered = [_without(message, self._pruned) for message in _in_order_of_calls(new)]
        # Results that are still to come may go before those that follow the last reply.
        replies = (place for place in range(len(new) - 1, -1, -1) if not isinstance(new[place], ToolMessage))
        last = next(replies, 0)
        self._sent += ordered[:last]
        self._settled += last
        return (*self._sent, *ordered[last:])

    def _begin(self, messages: PackedList[Message], compactions: Sequence[Compaction]) -> None:
        self.forget()
        self._compactions = compactions
        self._pruned = frozenset[str]().union(*(each.pruned for each in compactions))
        self._settled, last = standing(messages, compactions)
        if last is not None:
            note = UserMessage(f"{NOTE}{last.number}", last.summary, is_typed=False)
            self._sent.append(note)


def _in_order_of_calls(messages: Sequence[Message]) -> Iterator[Message]:
    """Results are kept as they came in; a model is sent them as it asked, whichever was quicker."""
    results: list[ToolMessage] = []
    calls: tuple[ToolCall, ...] = ()
    for message in messages:
        if isinstance(message, ToolMessage):
            results.append(message)
            continue
        yield from _as_asked(results, calls)
        results, calls = [], message.calls if isinstance(message, AssistantMessage) else ()
        yield message
    yield from _as_asked(results, calls)


def _as_asked(results: list[ToolMessage], calls: tuple[ToolCall, ...]) -> list[ToolMessage]:
    if len(results) < 2:
        return results
    order = {call.id: place for place, call in enumerate(calls)}
    return sorted(results, key=lambda result: order.get(result.call_id, len(order)))


def _without(message: Message, pruned: frozenset[str]) -> Message:
    if not isinstance(message, ToolMessage) or message.call_id not in pruned:
        return message
    return replace(message, content=json.dumps({"ok": _is_ok(message), "left_out": LEFT_OUT}))


def _is_ok(message: ToolMessage) -> bool:
    try:
        return bool(json.loads(message.content).get("ok", True))
    except (ValueError, AttributeError):
        return True


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a summary would end: `goes` becomes one message, `stays` is sent as it is."""

    goes: tuple[Message, ...]
    stays: tuple[Message, ...]

    @property
    def tokens_going(self) -> int:
        return sum(map(estimate_message, self.goes))

    @property
    def tokens_staying(self) -> int:
        return sum(map(estimate_message, self.stays))


def cut(messages: Sequence[Message], tail_tokens: int) -> Cut:
    """Keep about `tail_tokens` of the newest messages; a call and its result are never parted."""
    size, place = 0, len(messages)
    for index in range(len(messages) - 1, -1, -1):
        size += estimate_message(messages[index])
        if isinstance(messages[index], ToolMessage):
            continue
        if size > tail_tokens and place < len(messages):
            break
        place = index
    return Cut(tuple(messages[:place]), tuple(messages[place:]))


def prunable(
    messages: Sequence[Message], gone: Iterable[str], protected_tokens: int, turns: int = 2
) -> dict[str, int]:
    """Calls whose results could be left out, with what that saves; the newest and skills stay."""
    already, found = frozenset(gone), dict[str, int]()
    seen_turns, recent = 0, 0
    for message in reversed(messages):
        if isinstance(message, UserMessage):
            seen_turns += 1
        if not isinstance(message, ToolMessage) or message.tool == SKILL or message.call_id in already:
            continue
        size = estimate_message(message)
        recent += size
        if seen_turns >= turns and recent > protected_tokens:
            found[message.call_id] = size
    return found


def calls_in(messages: Iterable[Message]) -> frozenset[str]:
    return frozenset(
        call.id for message in messages if isinstance(message, AssistantMessage) for call in message.calls
    )


class CallIds:
    """May find an id that was never added, once in some billion calls: the caller then makes another."""

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._hashes = array("q", sorted(set(map(hash, ids))))

    def __contains__(self, call_id: object) -> bool:
        place = bisect_left(self._hashes, hash(call_id))
        return place < len(self._hashes) and self._hashes[place] == hash(call_id)

    def __len__(self) -> int:
        return len(self._hashes)

    def add(self, call_id: str) -> None:
        if call_id not in self:
            self._hashes.insert(bisect_left(self._hashes, hash(call_id)), hash(call_id))


class Conversation:
    """All that was said. A message is part of it only once it is stored.

    What a summary covers is kept packed: it is not sent, but the summary may be undone.
    """

    def __init__(
        self,
        table: MessageTable,
        session_id: str,
        messages: tuple[Message, ...] = (),
        compactions: tuple[Compaction, ...] = (),
        call_ids: CallIds | None = None,
    ) -> None:
        """`call_ids` are shared with conversations that must not use the same ones."""
        self._table = table
        self._session_id = session_id
        self._view = SentView()
        self.call_ids = CallIds(calls_in(messages)) if call_ids is None else call_ids
        self.replace(messages, compactions)

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, unpacked: ask for fewer if they are enough."""
        return tuple(self._messages)

    @property
    def is_empty(self) -> bool:
        return not len(self._messages)

    @property
    def for_model(self) -> tuple[Message, ...]:
        """What the model is sent: compactions in place of what they cover."""
        return self._view.of(self._messages, self._compactions)

    @property
    def recent(self) -> list[Message]:
        """The messages that no summary covers."""
        return self._messages.since(self._covered)

    @property
    def backwards(self) -> Iterator[Message]:
        """All messages, the newest first, for a caller that stops soon."""
        return reversed(self._messages)

    @property
    def compactions(self) -> tuple[Compaction, ...]:
        return self._compactions

    @compactions.setter
    def compactions(self, compactions: tuple[Compaction, ...]) -> None:
        self._compactions = compactions
        self._covered, _ = standing(self._messages, compactions)
        self._messages.unpack_from(self._covered)

    def replace(self, messages: tuple[Message, ...], compactions: tuple[Compaction, ...]) -> None:
        """Replace all messages after the store changed. Ids of calls stay taken."""
        self._messages: PackedList[Message] = PackedList(messages)
        self._view.forget()
        self.compactions = compactions

    async def add(self, message: Message) -> None:
        await finish_despite_cancel(self._add(message))

    async def _add(self, message: Message) -> None:
        await self._table.add(self._session_id, message)
        self._messages.append(message)
        if isinstance(message, AssistantMessage):
            for call in message.calls:
                self.call_ids.add(call.id)

    def note_result(self, message: ToolMessage) -> None:
        """Add a result that was stored together with its call."""
        self._messages.append(message)

    async def close_call(self, result: ToolMessage) -> None:
        """Add a result even if the store fails: without it the provider would refuse the next request."""
        try:
            await self.add(result)
        except StorageError:
            self._messages.append(result)

    def open_calls(self) -> tuple[ToolCall, ...]:
        """Return the calls of the last reply that have no result yet."""
        results: set[str] = set()
        for message in self.backwards:
            if isinstance(message, ToolMessage):
                results.add(message.call_id)
            elif isinstance(message, AssistantMessage):
                return tuple(call for call in message.calls if call.id not in results)
        return ()
