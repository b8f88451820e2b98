"""The conversation as a model is sent it: the same bytes each time while no compaction comes or goes."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from coder_tui.llm.tokens import estimate_message
from coder_tui.protocol.messages import (
    AssistantMessage,
    Compaction,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from coder_tui.text.packed import PackedList

LEFT_OUT = "This result was left out to save room. Call the tool again where you need it."
NOTE = "compaction-"
"""How the id of the message begins that stands for others."""
SKILL = "skill"
"""What this tool gave is never left out."""


def sent(messages: Sequence[Message], compactions: Sequence[Compaction]) -> tuple[Message, ...]:
    """What stands for the conversation. A compaction of something that was taken back does not count."""
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
        results, calls = [], _calls_of(message)
        yield message
    yield from _as_asked(results, calls)


def _as_asked(results: list[ToolMessage], calls: tuple[ToolCall, ...]) -> list[ToolMessage]:
    if len(results) < 2:
        return results
    order = {call.id: place for place, call in enumerate(calls)}
    return sorted(results, key=lambda result: order.get(result.call_id, len(order)))


def _calls_of(message: Message) -> tuple[ToolCall, ...]:
    return message.calls if isinstance(message, AssistantMessage) else ()


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
