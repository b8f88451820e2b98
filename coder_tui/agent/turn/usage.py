"""Counts tokens and money per call, turn and session.

What a model's call comes to by its list price, for the time before its bill.

Counts what a sub-agent uses: for its own row, and for the session that pays for it.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from uuid import uuid4

from coder_tui.agent.event_bus import EventBus
from coder_tui.llm.client import ModelInfo, ModelRequest
from coder_tui.llm.providers import may_cut_prompts
from coder_tui.llm.tokens import estimate_request, with_estimates
from coder_tui.protocol.errors import ModelError
from coder_tui.protocol.events import Notice, UsageUpdated
from coder_tui.protocol.messages import AssistantMessage, Message, Usage
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.storage.store import Store
from coder_tui.tasks import to_the_end

_PER_MILLION = 1_000_000


async def nobody_knows(model: str, api_base: str) -> ModelInfo:
    """For models that have no price."""
    return ModelInfo()


class Prices:
    """Asks once for each model."""

    def __init__(self, info: Callable[[str, str], Awaitable[ModelInfo]] = nobody_knows) -> None:
        self._info = info
        self._known: dict[tuple[str, str], ModelInfo] = {}

    async def cost(self, model: str, api_base: str, usage: Usage) -> float | None:
        """Dollars, as if nothing came from a cache; None where no price is known."""
        return _cost(await self._of(model, api_base), usage)

    def known_cost(self, model: str, api_base: str, usage: Usage) -> float | None:
        """The same where the price was asked for before: for those who cannot wait."""
        return _cost(self._known.get((model, api_base), ModelInfo()), usage)

    async def _of(self, model: str, api_base: str) -> ModelInfo:
        if (model, api_base) not in self._known:
            try:
                self._known[model, api_base] = await self._info(model, api_base)
            except ModelError:
                # Whoever asks the model itself will be told what is wrong with it.
                return ModelInfo()
        return self._known[model, api_base]


def _cost(info: ModelInfo, usage: Usage) -> float | None:
    if info.input_cost is None or info.output_cost is None:
        return None
    return (usage.input_tokens * info.input_cost + usage.output_tokens * info.output_cost) / _PER_MILLION


_USUAL_OUTPUT = 1_000
"""Tokens that a reply is thought to have before it is there."""
_FAR_BELOW = 0.6
"""Of our estimate: tokenizers differ by a fifth or so, not by this much."""
_NOTICEABLE = 1_000


class UsageMeter:
    def __init__(
        self,
        store: Store,
        bus: EventBus,
        session_id: str,
        session: Usage,
        context_tokens: int = 0,
        last_costs: Mapping[str, float] | None = None,
        prices: Prices | None = None,
    ) -> None:
        """`last_costs` are dollars of the newest call of each model, where the session has some already."""
        self._store = store
        self._bus = bus
        self._session_id = session_id
        self.session = session
        self.turn = Usage()
        self.turn_number = 0
        self._steps = 0
        self.context_tokens = context_tokens
        self.context_window: int | None = None
        self.prices = prices or Prices()
        self.last_costs = dict(last_costs or {})
        self._has_warned_of_cuts = False

    @property
    def spent(self) -> Usage:
        """What counts against the limit of money."""
        return self.session

    @property
    def steps(self) -> int:
        """Model calls of the turn, those of its sub-agents among them."""
        return self._steps

    def start_turn(self, number: int) -> None:
        self.turn = Usage()
        self.turn_number = number
        self._steps = 0

    async def add(self, message: AssistantMessage) -> None:
        self.context_tokens = message.usage.total_tokens or self.context_tokens
        # To the end: who stops a turn has still paid for its reply.
        await to_the_end(self._count(message))

    async def add_of_child(self, message: AssistantMessage, child_id: str = "") -> None:
        """A sub-agent's reply costs as any other, but fills a window of its own."""
        await to_the_end(self._count(message, child_id))

    async def add_apart(self, message: AssistantMessage) -> None:
        """Paid for, but no part of the conversation: a summary, or a reply that was stopped."""
        await self.add_of_child(message)

    async def add_beside(self, message: AssistantMessage) -> None:
        """What was asked for the program's own sake costs, too, but is no step of the turn."""
        await to_the_end(self._count(message, is_step=False))

    async def expected_cost(self, request: ModelRequest) -> float:
        """A call sends what the one before it sent, and more: it will hardly cost less.

        A model that was not asked yet goes by its price, and where nobody knows that, nothing can be said.
        """
        if (last := self.last_costs.get(request.model)) is not None:
            return last
        usage = Usage(estimate_request(request), _USUAL_OUTPUT)
        return await self.prices.cost(request.model, request.api_base, usage) or 0.0

    def stopped(self, request: ModelRequest, said: str, message_id: str = "") -> AssistantMessage | None:
        """A call that was stopped on its way, with a guess at what it cost: its bill never comes.

        None where it may never have been sent: nothing came, and the model was not asked before. Nothing is
        waited for, since whoever stops a reply wants it to end.
        """
        cost = self.last_costs.get(request.model)
        if cost is None and not said:
            return None
        usage = with_estimates(Usage(), request, (said,))
        if cost is None:
            cost = self.prices.known_cost(request.model, request.api_base, usage)
        guessed = replace(usage, cost=cost)
        return AssistantMessage(message_id or uuid4().hex, said, model=request.model, usage=guessed)

    def check_count(self, request: ModelRequest, counted: int) -> None:
        """Warn once if a local server read far less than it was sent: it dropped the instructions first."""
        if self._has_warned_of_cuts or not may_cut_prompts(request.model, request.api_base):
            return
        sent = estimate_request(request)
        if counted > sent * _FAR_BELOW or sent - counted < _NOTICEABLE:
            return
        self._has_warned_of_cuts = True
        text = (
            f"{request.model} read {counted:,} of about {sent:,} tokens: its context window is too small, "
            "and the instructions are dropped first. With Ollama, name the model ollama/… and set "
            "model.context_window; with other servers, load the model with a larger window."
        )
        self._bus.publish(Notice(NoticeLevel.WARNING, text))

    async def _count(self, message: AssistantMessage, child_id: str = "", *, is_step: bool = True) -> None:
        usage, turn = message.usage, self.turn_number
        await self._store.add_usage(self._session_id, message.id, message.model, usage, turn, child_id)
        self._steps += is_step
        if is_step and usage.cost is not None:
            self.last_costs[message.model] = usage.cost
        self.turn += usage
        self.session += usage
        self._bus.publish(self.snapshot())

    def snapshot(self) -> UsageUpdated:
        return UsageUpdated(self.turn, self.session, self.context_tokens, self.context_window)


def last_context(messages: tuple[Message, ...]) -> int:
    """How much of the window the newest reply filled, of those that were counted."""
    replies = (message for message in reversed(messages) if isinstance(message, AssistantMessage))
    return next((tokens for reply in replies if (tokens := reply.usage.total_tokens)), 0)


class SubagentMeter(UsageMeter):
    """Limits are shared: what counts against them is what the whole turn has used."""

    def __init__(self, store: Store, bus: EventBus, child_id: str, parent: UsageMeter) -> None:
        super().__init__(store, bus, child_id, Usage(), prices=parent.prices)
        # The very same: what one of the family paid is what the next will.
        self.last_costs = parent.last_costs
        self._parent = parent
        self.own_steps = 0

    @property
    def spent(self) -> Usage:
        return self._parent.spent

    @property
    def steps(self) -> int:
        return self._parent.steps

    async def add(self, message: AssistantMessage) -> None:
        # To the end: who stops a sub-agent has still paid for its reply.
        await to_the_end(self._add(message))

    async def _add(self, message: AssistantMessage) -> None:
        self.own_steps += 1
        await super().add(message)
        await self._parent.add_of_child(message, self._session_id)

    async def add_apart(self, message: AssistantMessage) -> None:
        await to_the_end(self._add_apart(message))

    async def _add_apart(self, message: AssistantMessage) -> None:
        await super().add_apart(message)
        await self._parent.add_of_child(message, self._session_id)
