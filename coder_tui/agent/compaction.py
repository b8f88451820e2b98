"""Makes room in the model's window: first old results are left out, then a summary stands for what was."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from coder_tui.agent.context_view import Cut, calls_in, cut, prunable
from coder_tui.agent.conversation import Conversation
from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.request_builder import RequestBuilder
from coder_tui.agent.summary import Summariser
from coder_tui.agent.usage_meter import UsageMeter
from coder_tui.llm.tokens import estimate_request
from coder_tui.protocol.context import Compaction
from coder_tui.protocol.errors import ModelError, UserError
from coder_tui.protocol.events import CompactionFinished, CompactionStarted, Notice
from coder_tui.protocol.messages import Message
from coder_tui.protocol.outcomes import NoticeLevel

log = logging.getLogger(__name__)
NOTHING_TO_COMPACT = "There is nothing to compact yet."
NOTHING_TO_UNDO = "Nothing was compacted."
NO_SUMMARY = "The model returned no summary; nothing was changed."
PRUNE_AT = 0.70
SUMMARISE_AT = 0.85
_UNKNOWN_WINDOW = 32_000
"""Taken where nobody knows the model's window: what is left then fits nearly all of them."""
_CHARACTERS_PER_TOKEN = 3
_LEAST_TAIL = 2_000
_NOTICEABLE = 0.05
"""Of a window: so much more makes another try at a summary worth its price."""


@dataclass(frozen=True, slots=True)
class Room:
    """How much of a window is for what, in tokens."""

    window: int

    @property
    def tail(self) -> int:
        """Of the newest messages, as they are."""
        return min(max(self.window // 4, _LEAST_TAIL), 15_000)

    @property
    def protected(self) -> int:
        """Of the newest results, which are not left out."""
        return min(self.window // 5, 40_000)

    @property
    def worthwhile(self) -> int:
        """Leaving out less than this would only cost the provider's cache."""
        return min(self.window // 10, 20_000)


class Keeper(Protocol):
    """Writes what must survive beside the summary: the person's words, todos, skills, changed files."""

    async def __call__(self, going: tuple[Message, ...], summary: str) -> str: ...


AUTO, MANUAL = "auto", "manual"
MayNot = Callable[[str, str], Awaitable[str]]


async def nobody_objects(trigger: str, wish: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Preview:
    """What `/compact` would do."""

    messages_going: int
    tokens_going: int
    messages_staying: int
    tokens_staying: int


class CompactionDesk:
    """Serves one session. The conversation itself is never changed, so that everything can be undone."""

    def __init__(
        self,
        session_id: str,
        conversation: Conversation,
        request: RequestBuilder,
        summariser: Summariser,
        keep: Keeper,
        meter: UsageMeter,
        bus: EventBus,
        store: "CompactionStore",
        may_not: MayNot = nobody_objects,
    ) -> None:
        """`may_not` is asked first, with what it is for and the person's wish; it gives a reason, or none."""
        self._session_id = session_id
        self._conversation = conversation
        self._request = request
        self._summariser = summariser
        self._keep = keep
        self._meter = meter
        self._bus = bus
        self._store = store
        self._may_not = may_not
        self._failed: tuple[int, int] | None = None
        """In which turn, and how full the window was, when no summary could be had by itself."""

    async def pin(self, text: str) -> None:
        """Every later summary carries these words on."""
        await self._store.add_pin(self._session_id, text)

    async def pins(self) -> tuple[str, ...]:
        return await self._store.pins(self._session_id)

    def preview(self) -> Preview:
        planned = self._cut(Room(self._window).tail)
        return Preview(len(planned.goes), planned.tokens_going, len(planned.stays), planned.tokens_staying)

    async def make_room(self) -> None:
        """Before a request: what is needed, and nothing where there is room, or nobody knows."""
        window, filled = self._meter.context_window, self._meter.context_tokens
        if not window or filled < window * PRUNE_AT:
            return
        await self._prune()
        if self._meter.context_tokens < window * SUMMARISE_AT or self._would_fail_again():
            return
        try:
            await self.compact(trigger=AUTO)
            self._failed = None
        except (UserError, ModelError) as error:
            self._failed = (self._meter.turn_number, self._meter.context_tokens)
            self._bus.publish(Notice(NoticeLevel.WARNING, f"The conversation was not compacted: {error}"))

    def _would_fail_again(self) -> bool:
        """Each try is paid for: what failed a step ago waits for the next turn, or for much new text."""
        if self._failed is None:
            return False
        turn, filled = self._failed
        grown = self._meter.context_tokens - filled
        return turn == self._meter.turn_number and grown < self._window * _NOTICEABLE

    async def after_overflow(self) -> bool:
        """The provider refused for want of room; whether there is more of it now."""
        try:
            # The window is smaller than it was thought to be.
            await self._summarise(self._cut(_LEAST_TAIL), "", AUTO)
        except UserError as error:
            log.info("nothing to compact after an overflow: %s", error)
            return False
        return True

    async def compact(self, wish: str = "", trigger: str = MANUAL) -> CompactionFinished:
        """Have a summary written; `UserError` where there is nothing to summarise, or no summary came."""
        return await self._summarise(self._cut(Room(self._window).tail), wish, trigger)

    async def _summarise(self, planned: Cut, wish: str, trigger: str) -> CompactionFinished:
        if not planned.goes:
            raise UserError(NOTHING_TO_COMPACT)
        if reason := await self._may_not(trigger, wish):
            raise UserError(f"a hook says: {reason}")
        before = self._size()
        self._bus.publish(CompactionStarted())
        try:
            most = round(self._window * SUMMARISE_AT * _CHARACTERS_PER_TOKEN)
            reply = await self._summariser.summarise(planned.goes, self._request.choice, most, wish)
            await self._meter.add_of_child(reply)
            if not reply.text:
                raise UserError(NO_SUMMARY)
            text = await self._keep(planned.goes, reply.text)
        except BaseException:
            self._bus.publish(CompactionFinished(before, before, 0))
            raise
        await self._add(planned.goes[-1].id, text, frozenset())
        return self._told(before, len(planned.goes))

    async def undo(self) -> CompactionFinished:
        """Send again what the last compaction stands for, byte for byte."""
        if not self._conversation.compactions:
            raise UserError(NOTHING_TO_UNDO)
        before = self._size()
        *rest, last = self._conversation.compactions
        await self._store.drop_compaction(self._session_id, last.number)
        self._conversation.compactions = tuple(rest)
        return self._told(before, 0)

    async def _prune(self) -> None:
        room = Room(self._window)
        messages = self._conversation.for_model
        gone = (call for each in self._conversation.compactions for call in each.pruned)
        found = prunable(messages, gone, room.protected)
        if sum(found.values()) < room.worthwhile:
            return
        before = self._size()
        await self._add("", "", frozenset(found) & calls_in(messages))
        self._told(before, len(found))

    async def _add(self, last_id: str, summary: str, pruned: frozenset[str]) -> None:
        made = await self._store.add_compaction(self._session_id, last_id, summary, pruned)
        self._conversation.compactions = (*self._conversation.compactions, made)

    def _cut(self, tail: int) -> Cut:
        """A summary that exists already is summarised again with what came after it."""
        messages = self._conversation.for_model
        planned = cut(messages, tail)
        # A lone earlier summary is nothing new to say.
        is_stale = len(planned.goes) == 1 and planned.goes[0].id.startswith("compaction-")
        return Cut((), messages) if is_stale else planned

    @property
    def _window(self) -> int:
        return self._meter.context_window or _UNKNOWN_WINDOW

    def _size(self) -> int:
        return estimate_request(self._request(self._conversation.for_model))

    def _told(self, before: int, messages: int) -> CompactionFinished:
        after = self._size()
        self._meter.context_tokens = after
        finished = CompactionFinished(before, after, messages)
        self._bus.publish(finished)
        self._bus.publish(self._meter.snapshot())
        return finished


class CompactionStore(Protocol):
    async def add_compaction(
        self, session_id: str, last_id: str, summary: str, pruned: frozenset[str]
    ) -> Compaction: ...

    async def drop_compaction(self, session_id: str, number: int) -> None: ...

    async def add_pin(self, session_id: str, text: str) -> None: ...

    async def pins(self, session_id: str) -> tuple[str, ...]: ...
