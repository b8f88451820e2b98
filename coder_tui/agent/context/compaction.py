"""Make room in the context window: first leave out old results, then replace old messages by a summary."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from coder_tui.agent.context.budget import PRUNE_AT, SUMMARIZE_AT, UNKNOWN_WINDOW, TokenBudget
from coder_tui.agent.context.conversation import NOTE, Conversation, Cut, calls_in, cut, prunable
from coder_tui.agent.context.handover_note import Carried, HandoverNote, Summarizer, shorten_messages
from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.turn.limits import SpendLimit, SpendLimitError
from coder_tui.agent.turn.model_request import RequestBuilder
from coder_tui.agent.turn.usage import UsageMeter
from coder_tui.llm.client import estimate_request
from coder_tui.protocol.errors import ModelError, ModelErrorKind, StorageError, UserError
from coder_tui.protocol.events import CompactionFinished, CompactionStarted
from coder_tui.protocol.messages import Message
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.storage.session_state import Compactions
from coder_tui.tasks import finish_despite_cancel

log = logging.getLogger(__name__)
NOTHING_TO_COMPACT = "There is nothing to compact yet."
NOTHING_TO_UNDO = "Nothing was compacted."
NO_SUMMARY = "The model returned no summary; nothing was changed."
NO_MODEL = (
    "No model could summarize the older messages, so they were cut: only their beginning and end are sent."
)
LEAST_GOING = 200
MOST_TRIES = 4
"""With half of the window each time: the last try takes an eighth of it."""
_NOTICEABLE = 0.05
"""Of a window: with so much new text, another summary is worth its price."""


AUTO, MANUAL = "auto", "manual"
Objection = Callable[[str, str], Awaitable[str]]


async def always_allowed(trigger: str, wish: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Preview:
    """What `/compact` would do."""

    messages_going: int
    tokens_going: int
    messages_staying: int
    tokens_staying: int
    carried: Carried


@dataclass(frozen=True, slots=True)
class ModelContext:
    """What the model of one agent is sent, and who counts and limits its cost."""

    session_id: str
    conversation: Conversation
    request: RequestBuilder
    meter: UsageMeter
    bus: EventBus
    cap: SpendLimit


@dataclass(eq=False, slots=True)
class Compactor:
    """Compacts one conversation, which itself is never changed, so that everything can be undone.

    `objection` gets the trigger and the user's wish; it returns a reason to refuse, or ''.
    """

    context: ModelContext
    store: Compactions
    summarizer: Summarizer
    keep: HandoverNote
    objection: Objection = always_allowed
    _useless_at: tuple[int, int] | None = field(default=None, init=False)
    """The turn, and how full the window was, when a summary did not help."""
    _refused: dict[str, int] = field(default_factory=dict, init=False)
    """By model, about how many tokens it refused, or the limit that it reported."""

    async def pin(self, text: str) -> None:
        """Keep this text in every later summary."""
        await self.store.add_pin(self.context.session_id, text)

    async def pins(self) -> tuple[str, ...]:
        return await self.store.pins(self.context.session_id)

    async def preview(self) -> Preview:
        budget = self._budget()
        planned = self._cut(budget)
        carried = await self.keep.carried(self._last_id(planned), budget)
        sizes = (len(planned.goes), planned.tokens_going, len(planned.stays), planned.tokens_staying)
        return Preview(*sizes, carried)

    async def ensure_fits(self) -> None:
        """Compact before a request if needed; do nothing if there is room or the window is not known."""
        window, filled = self._known_window, self.context.meter.context_tokens
        if not window or filled < window * PRUNE_AT:
            return
        await self._prune(budget := self._budget(), budget.protected)
        if self.context.meter.context_tokens < window * SUMMARIZE_AT or self._would_be_useless():
            return
        try:
            await self.compact(trigger=AUTO)
        except SpendLimitError:
            raise
        except (UserError, ModelError) as error:
            self.context.bus.notify(NoticeLevel.WARNING, f"The conversation was not compacted: {error}")
        filled = self.context.meter.context_tokens
        self._useless_at = (
            (self.context.meter.turn_number, filled) if filled >= window * SUMMARIZE_AT else None
        )

    def _would_be_useless(self) -> bool:
        """Each try costs money: after one that did not help, wait for the next turn or much new text."""
        if self._useless_at is None:
            return False
        turn, filled = self._useless_at
        grown = self.context.meter.context_tokens - filled
        return turn == self.context.meter.turn_number and grown < self._budget().window * _NOTICEABLE

    async def after_overflow(self, tries: int, window: int | None) -> bool:
        """Make room after the provider refused a request, after so many tries; return whether it helped.

        `window` is the limit that the provider reported, if any.
        """
        refused = self._size()
        if window or not tries:
            # The provider accepted what it has counted: the limit is not below that.
            self._refused[self.context.request.model] = window or max(
                refused, self.context.meter.context_tokens
            )
        try:
            for halvings in range(tries, MOST_TRIES):
                await self._shrink(self._budget(halvings), halvings)
                if self._size() < refused:
                    return True
        except SpendLimitError:
            raise
        except UserError as error:
            log.info("nothing was compacted after an overflow: %s", error)
        return False

    async def _shrink(self, budget: TokenBudget, halvings: int) -> None:
        planned = self._cut(budget)
        # A note has text of its own: in place of less it would gain nothing.
        if planned.tokens_going > LEAST_GOING:
            await self._summarize(planned, budget, "", AUTO, is_needed=True)
        if halvings:
            # The newest messages alone are too much.
            await self._prune(budget, budget.tail, turns=0)

    async def compact(self, wish: str = "", trigger: str = MANUAL) -> CompactionFinished:
        """Have a summary written; raise `UserError` if there is nothing to summarize, or no summary came."""
        if trigger == MANUAL:
            self.context.cap.begin()
        budget = self._budget()
        return await self._summarize(self._cut(budget), budget, wish, trigger)

    async def _summarize(
        self, planned: Cut, budget: TokenBudget, wish: str, trigger: str, *, is_needed: bool = False
    ) -> CompactionFinished:
        """`is_needed`: the session cannot go on without, so cut messages if there is no summary."""
        if not planned.goes:
            raise UserError(NOTHING_TO_COMPACT)
        if reason := await self.objection(trigger, wish):
            raise UserError(f"a hook says: {reason}")
        last_id = self._last_id(planned)
        self.context.bus.publish(CompactionStarted())
        try:
            summary = await self._written(planned.goes, budget, wish, is_needed=is_needed)
            text = await self.keep.note(last_id, summary, budget)
        except BaseException:
            self._publish_unchanged()
            raise
        return await finish_despite_cancel(self._add(last_id, text, frozenset(), len(planned.goes)))

    async def _written(
        self, goes: tuple[Message, ...], budget: TokenBudget, wish: str, *, is_needed: bool
    ) -> str:
        """Return a model's summary of as much as it accepts; without one, the messages are cut."""
        for tries in range(MOST_TRIES):
            try:
                summary = await self._asked(goes, budget.material >> tries, wish)
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
        self.context.bus.notify(NoticeLevel.WARNING, NO_MODEL)
        return shorten_messages(goes, budget.summary)

    async def _asked(self, goes: tuple[Message, ...], most_tokens: int, wish: str) -> str:
        async with self.context.cap.call(self.context.meter, self.context.request, goes):
            return await self.summarizer.summarize(goes, self.context.request.choice, most_tokens, wish)

    async def undo(self) -> CompactionFinished:
        """Send again exactly what the last compaction replaced."""
        if not self.context.conversation.compactions:
            raise UserError(NOTHING_TO_UNDO)
        return await finish_despite_cancel(self._drop_last())

    async def _drop_last(self) -> CompactionFinished:
        before = self._size()
        *rest, last = self.context.conversation.compactions
        await self.store.drop(self.context.session_id, last.number)
        self.context.conversation.compactions = tuple(rest)
        return self._finished(before, 0)

    async def _prune(self, budget: TokenBudget, protected: int, turns: int = 2) -> None:
        messages = self.context.conversation.for_model
        gone = (call for each in self.context.conversation.compactions for call in each.pruned)
        found = prunable(messages, gone, protected, turns)
        if sum(found.values()) < budget.worthwhile:
            return
        await finish_despite_cancel(self._add("", "", frozenset(found) & calls_in(messages), len(found)))

    async def _add(
        self, last_id: str, summary: str, pruned: frozenset[str], count: int
    ) -> CompactionFinished:
        """Store a compaction. Not cut off by Esc: what is stored and what is sent must not differ."""
        before = self._size()
        try:
            made = await self.store.add(self.context.session_id, last_id, summary, pruned)
        except StorageError:
            self._publish_unchanged()
            raise
        self.context.conversation.compactions = (*self.context.conversation.compactions, made)
        return self._finished(before, count)

    def _publish_unchanged(self) -> None:
        size = self._size()
        self.context.bus.publish(CompactionFinished(size, size, 0))

    def _cut(self, budget: TokenBudget) -> Cut:
        """Plan which messages go. An earlier summary is summarized again with what came after it."""
        messages = self.context.conversation.for_model
        planned = cut(messages, budget.tail)
        # A lone earlier summary is not worth another, unless there is not even room for that.
        is_lone = len(planned.goes) == 1 and planned.goes[0].id.startswith(NOTE)
        return Cut((), messages) if is_lone and planned.tokens_going <= budget.note else planned

    def _last_id(self, planned: Cut) -> str:
        """Return the last message of the conversation that the summary covers."""
        last = planned.goes[-1].id if planned.goes else ""
        if not last.startswith(NOTE):
            return last
        return next(
            each.last_id for each in self.context.conversation.compactions if last == f"{NOTE}{each.number}"
        )

    @property
    def _known_window(self) -> int | None:
        """The smallest known window. A refused size counts until the model accepted more than that."""
        refused = self._refused.get(self.context.request.model, 0)
        known = (
            self.context.meter.context_window,
            refused if refused >= self.context.meter.context_tokens else None,
        )
        return min((tokens for tokens in known if tokens), default=None)

    def _budget(self, halvings: int = 0) -> TokenBudget:
        window = (self._known_window or UNKNOWN_WINDOW) >> halvings
        return TokenBudget(window, estimate_request(self.context.request(())))

    def _size(self) -> int:
        return estimate_request(self.context.request(self.context.conversation.for_model))

    def _finished(self, before: int, messages: int) -> CompactionFinished:
        after = self._size()
        self.context.meter.context_tokens = after
        finished = CompactionFinished(before, after, messages)
        self.context.bus.publish(finished)
        self.context.bus.publish(self.context.meter.snapshot())
        return finished
