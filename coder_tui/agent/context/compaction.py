"""Makes room in the model's window: first old results are left out, then a summary stands for what was."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from coder_tui.agent.context.budget import PRUNE_AT, SUMMARISE_AT, UNKNOWN_WINDOW, Room
from coder_tui.agent.context.conversation import Conversation
from coder_tui.agent.context.handover_note import Carried, Summariser, told_shortly
from coder_tui.agent.context.model_view import NOTE, Cut, calls_in, cut, prunable
from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.turn.limits import SpendCap, SpendLimitError
from coder_tui.agent.turn.model_request import RequestBuilder
from coder_tui.agent.turn.usage import UsageMeter
from coder_tui.llm.tokens import estimate_request
from coder_tui.protocol.errors import ModelError, ModelErrorKind, StorageError, UserError
from coder_tui.protocol.events import CompactionFinished, CompactionStarted, Notice
from coder_tui.protocol.messages import Compaction, Message
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.tasks import to_the_end

log = logging.getLogger(__name__)
NOTHING_TO_COMPACT = "There is nothing to compact yet."
NOTHING_TO_UNDO = "Nothing was compacted."
NO_SUMMARY = "The model returned no summary; nothing was changed."
NO_MODEL = (
    "No model could sum up the older messages, so they were shortened without one: "
    "their beginning and end stay."
)
LEAST_GOING = 200
MOST_TRIES = 4
"""With half of the window each time: the last is an eighth of what it was thought to be."""
_NOTICEABLE = 0.05
"""Of a window: so much more makes another try at a summary worth its price."""


class Keeper(Protocol):
    """Writes what must survive beside the summary: the person's words, todos, skills, changed files."""

    async def carried(self, last_id: str, room: Room) -> Carried: ...

    async def note(self, last_id: str, summary: str, room: Room) -> str: ...


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
    carried: Carried


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
        cap: SpendCap,
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
        self._cap = cap
        self._may_not = may_not
        self._in_vain: tuple[int, int] | None = None
        """In which turn, and how full the window was, when a summary was to be had and made no room."""
        self._refused: dict[str, int] = {}
        """By model, about how many tokens it did not take, or what it said that it takes."""

    async def pin(self, text: str) -> None:
        """Every later summary carries these words on."""
        await self._store.add_pin(self._session_id, text)

    async def pins(self) -> tuple[str, ...]:
        return await self._store.pins(self._session_id)

    async def preview(self) -> Preview:
        room = self._room()
        planned = self._cut(room)
        carried = await self._keep.carried(self._last_id(planned), room)
        sizes = (len(planned.goes), planned.tokens_going, len(planned.stays), planned.tokens_staying)
        return Preview(*sizes, carried)

    async def make_room(self) -> None:
        """Before a request: what is needed, and nothing where there is room, or nobody knows."""
        window, filled = self._known_window, self._meter.context_tokens
        if not window or filled < window * PRUNE_AT:
            return
        await self._prune(room := self._room(), room.protected)
        if self._meter.context_tokens < window * SUMMARISE_AT or self._would_be_in_vain():
            return
        try:
            await self.compact(trigger=AUTO)
        except SpendLimitError:
            raise
        except (UserError, ModelError) as error:
            self._bus.publish(Notice(NoticeLevel.WARNING, f"The conversation was not compacted: {error}"))
        filled = self._meter.context_tokens
        self._in_vain = (self._meter.turn_number, filled) if filled >= window * SUMMARISE_AT else None

    def _would_be_in_vain(self) -> bool:
        """Each try is paid for: what was no help a step ago waits for the next turn or much new text."""
        if self._in_vain is None:
            return False
        turn, filled = self._in_vain
        grown = self._meter.context_tokens - filled
        return turn == self._meter.turn_number and grown < self._room().window * _NOTICEABLE

    async def after_overflow(self, tries: int, window: int | None) -> bool:
        """The provider refused for want of room, after so many tries; whether there is more of it now.

        `window` is what it says that it takes, where it does.
        """
        refused = self._size()
        if window or not tries:
            # What the provider itself has counted it took: a guess below that is none.
            self._refused[self._request.model] = window or max(refused, self._meter.context_tokens)
        try:
            for halvings in range(tries, MOST_TRIES):
                await self._shrink(self._room(halvings), halvings)
                if self._size() < refused:
                    return True
        except SpendLimitError:
            raise
        except UserError as error:
            log.info("nothing was compacted after an overflow: %s", error)
        return False

    async def _shrink(self, room: Room, halvings: int) -> None:
        planned = self._cut(room)
        # A note has words of its own: in place of fewer it would be no gain.
        if planned.tokens_going > LEAST_GOING:
            await self._summarise(planned, room, "", AUTO, is_needed=True)
        if halvings:
            # What is new is itself too much.
            await self._prune(room, room.tail, turns=0)

    async def compact(self, wish: str = "", trigger: str = MANUAL) -> CompactionFinished:
        """Have a summary written; `UserError` where there is nothing to summarise, or no summary came."""
        if trigger == MANUAL:
            self._cap.begin()
        room = self._room()
        return await self._summarise(self._cut(room), room, wish, trigger)

    async def _summarise(
        self, planned: Cut, room: Room, wish: str, trigger: str, *, is_needed: bool = False
    ) -> CompactionFinished:
        """`is_needed`: the session cannot go on without, so that anything is better than nothing."""
        if not planned.goes:
            raise UserError(NOTHING_TO_COMPACT)
        if reason := await self._may_not(trigger, wish):
            raise UserError(f"a hook says: {reason}")
        last_id = self._last_id(planned)
        self._bus.publish(CompactionStarted())
        try:
            summary = await self._written(planned.goes, room, wish, is_needed=is_needed)
            text = await self._keep.note(last_id, summary, room)
        except BaseException:
            self._not_done()
            raise
        return await to_the_end(self._add(last_id, text, frozenset(), len(planned.goes)))

    async def _written(self, goes: tuple[Message, ...], room: Room, wish: str, *, is_needed: bool) -> str:
        """A model's summary of as much as it takes; without one, what was said is shortened."""
        for tries in range(MOST_TRIES):
            try:
                summary = await self._asked(goes, room.material >> tries, wish)
            except ModelError as error:
                if error.kind is ModelErrorKind.OVERFLOW:
                    continue
                if is_needed and error.kind is ModelErrorKind.BAD_REQUEST:
                    break
                raise
            if summary:
                return summary
            if not is_needed:
                raise UserError(NO_SUMMARY)
            break
        self._bus.publish(Notice(NoticeLevel.WARNING, NO_MODEL))
        return told_shortly(goes, room.summary)

    async def _asked(self, goes: tuple[Message, ...], most_tokens: int, wish: str) -> str:
        async with self._cap.call(self._meter, self._request, goes):
            return await self._summariser.summarise(goes, self._request.choice, most_tokens, wish)

    async def undo(self) -> CompactionFinished:
        """Send again what the last compaction stands for, byte for byte."""
        if not self._conversation.compactions:
            raise UserError(NOTHING_TO_UNDO)
        return await to_the_end(self._drop_last())

    async def _drop_last(self) -> CompactionFinished:
        before = self._size()
        *rest, last = self._conversation.compactions
        await self._store.drop_compaction(self._session_id, last.number)
        self._conversation.compactions = tuple(rest)
        return self._told(before, 0)

    async def _prune(self, room: Room, protected: int, turns: int = 2) -> None:
        messages = self._conversation.for_model
        gone = (call for each in self._conversation.compactions for call in each.pruned)
        found = prunable(messages, gone, protected, turns)
        if sum(found.values()) < room.worthwhile:
            return
        await to_the_end(self._add("", "", frozenset(found) & calls_in(messages), len(found)))

    async def _add(
        self, last_id: str, summary: str, pruned: frozenset[str], count: int
    ) -> CompactionFinished:
        """Whole, though somebody presses Esc: what is stored and what is sent must not differ."""
        before = self._size()
        try:
            made = await self._store.add_compaction(self._session_id, last_id, summary, pruned)
        except StorageError:
            self._not_done()
            raise
        self._conversation.compactions = (*self._conversation.compactions, made)
        return self._told(before, count)

    def _not_done(self) -> None:
        size = self._size()
        self._bus.publish(CompactionFinished(size, size, 0))

    def _cut(self, room: Room) -> Cut:
        """A summary that exists already is summarised again with what came after it."""
        messages = self._conversation.for_model
        planned = cut(messages, room.tail)
        # A lone earlier summary is nothing new to say, unless there is not even room for that.
        is_lone = len(planned.goes) == 1 and planned.goes[0].id.startswith(NOTE)
        return Cut((), messages) if is_lone and planned.tokens_going <= room.note else planned

    def _last_id(self, planned: Cut) -> str:
        """Up to which message of the conversation the summary goes."""
        last = planned.goes[-1].id if planned.goes else ""
        if not last.startswith(NOTE):
            return last
        return next(each.last_id for each in self._conversation.compactions if last == f"{NOTE}{each.number}")

    @property
    def _known_window(self) -> int | None:
        """What was refused was too much, whatever is said of the model, until it took more than that."""
        refused = self._refused.get(self._request.model, 0)
        known = (self._meter.context_window, refused if refused >= self._meter.context_tokens else None)
        return min((tokens for tokens in known if tokens), default=None)

    def _room(self, halvings: int = 0) -> Room:
        window = (self._known_window or UNKNOWN_WINDOW) >> halvings
        return Room(window, estimate_request(self._request(())))

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
