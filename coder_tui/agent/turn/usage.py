"""Count tokens and money per call, turn and session; estimate the cost of a call by its list price."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from uuid import uuid4

from coder_tui.agent.event_bus import EventBus
from coder_tui.llm.client import ModelInfo, ModelRequest, estimate_request, with_estimates
from coder_tui.llm.providers import may_cut_prompts
from coder_tui.protocol.errors import ModelError
from coder_tui.protocol.events import UsageUpdated
from coder_tui.protocol.messages import AssistantMessage, Message, Usage
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.storage.ledger import UsageLedger
from coder_tui.tasks import finish_despite_cancel

_PER_MILLION = 1_000_000


async def no_price(model: str, api_base: str) -> ModelInfo:
    """For models that have no price."""
    return ModelInfo()


class Prices:
    """List prices, asked for once for each model."""

    def __init__(self, info: Callable[[str, str], Awaitable[ModelInfo]] = no_price) -> None:
        self._info = info
        self._known: dict[tuple[str, str], ModelInfo] = {}

    async def cost(self, model: str, api_base: str, usage: Usage) -> float | None:
        """Return dollars, as if nothing came from a cache; None if no price is known."""
        return _cost(await self._of(model, api_base), usage)

    def known_cost(self, model: str, api_base: str, usage: Usage) -> float | None:
        """Return the same without waiting, if the price was asked for before."""
        return _cost(self._known.get((model, api_base), ModelInfo()), usage)

    async def _of(self, model: str, api_base: str) -> ModelInfo:
        if (model, api_base) not in self._known:
            try:
                self._known[model, api_base] = await self._info(model, api_base)
            except ModelError:
                # A request to the model will report what is wrong with it.
                return ModelInfo()
        return self._known[model, api_base]


def _cost(info: ModelInfo, usage: Usage) -> float | None:
    if info.input_cost is None or info.output_cost is None:
        return None
    return (usage.input_tokens * info.input_cost + usage.output_tokens * info.output_cost) / _PER_MILLION


_USUAL_OUTPUT = 1_000
"""Tokens that a reply is assumed to have before it is there."""
_FAR_BELOW = 0.6
"""Of our estimate: tokenizers differ by a fifth or so, not by this much."""
_NOTICEABLE = 1_000


class UsageMeter:
    def __init__(
        self,
        ledger: UsageLedger,
        bus: EventBus,
        session_id: str,
        session: Usage,
        context_tokens: int = 0,
        last_costs: Mapping[str, float] | None = None,
        prices: Prices | None = None,
    ) -> None:
        """`last_costs` are dollars of the newest call of each model, if the session has made calls."""
        self._ledger = ledger
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
        """What counts against the spend limit."""
        return self.session

    @property
    def steps(self) -> int:
        """Model calls of the turn, including those of its sub-agents."""
        return self._steps

    def start_turn(self, number: int) -> None:
        self.turn = Usage()
        self.turn_number = number
        self._steps = 0

    async def add(self, message: AssistantMessage) -> None:
        self.context_tokens = message.usage.total_tokens or self.context_tokens
        # Not cut off: a stopped turn has still paid for its reply.
        await finish_despite_cancel(self._count(message))

    async def add_from_child(self, message: AssistantMessage, child_id: str = "") -> None:
        """Count a sub-agent's reply, which fills a context window of its own."""
        await finish_despite_cancel(self._count(message, child_id))

    async def add_detached(self, message: AssistantMessage) -> None:
        """Count a reply that is no part of the conversation: a summary, or a reply that was stopped."""
        await self.add_from_child(message)

    async def add_outside_turn(self, message: AssistantMessage) -> None:
        """Count a reply that is no step of the turn, such as the title of a session."""
        await finish_despite_cancel(self._count(message, is_step=False))

    async def expected_cost(self, request: ModelRequest) -> float:
        """Estimate a call by the one before it: it sends the same and more, so it will hardly cost less.

        A model that was not asked yet is estimated by its price; without a price, as 0.
        """
        if (last := self.last_costs.get(request.model)) is not None:
            return last
        usage = Usage(estimate_request(request), _USUAL_OUTPUT)
        return await self.prices.cost(request.model, request.api_base, usage) or 0.0

    def stopped(self, request: ModelRequest, said: str, message_id: str = "") -> AssistantMessage | None:
        """Return a call that was stopped, with an estimate of its cost: its bill never comes.

        None if it may never have been sent: nothing came, and the model was not asked before. Does not wait
        for anything, since a user who stops a reply wants it to end.
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
        self._bus.notify(NoticeLevel.WARNING, text)

    async def _count(self, message: AssistantMessage, child_id: str = "", *, is_step: bool = True) -> None:
        usage, turn = message.usage, self.turn_number
        await self._ledger.add(self._session_id, message.id, message.model, usage, turn, child_id)
        self._steps += is_step
        if is_step and usage.cost is not None:
            self.last_costs[message.model] = usage.cost
        self.turn += usage
        self.session += usage
        self._bus.publish(self.snapshot())

    def snapshot(self) -> UsageUpdated:
        return UsageUpdated(self.turn, self.session, self.context_tokens, self.context_window)


def last_context(messages: tuple[Message, ...]) -> int:
    """Return how many tokens of the context window the newest counted reply filled."""
    replies = (message for message in reversed(messages) if isinstance(message, AssistantMessage))
    return next((tokens for reply in replies if (tokens := reply.usage.total_tokens)), 0)


class SubagentMeter(UsageMeter):
    """The usage of one sub-agent. Limits are shared: the whole turn counts against them."""

    def __init__(self, ledger: UsageLedger, bus: EventBus, child_id: str, parent: UsageMeter) -> None:
        super().__init__(ledger, bus, child_id, Usage(), prices=parent.prices)
        # Shared: what one agent paid is what the next will pay.
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
        # Not cut off: a stopped sub-agent has still paid for its reply.
        await finish_despite_cancel(self._add(message))

    async def _add(self, message: AssistantMessage) -> None:
        self.own_steps += 1
        await super().add(message)
        await self._parent.add_from_child(message, self._session_id)

    async def add_detached(self, message: AssistantMessage) -> None:
        await finish_despite_cancel(self._add_detached(message))

    async def _add_detached(self, message: AssistantMessage) -> None:
        await super().add_detached(message)
        await self._parent.add_from_child(message, self._session_id)
