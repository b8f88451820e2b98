"""Asks the person before a session costs more than they wanted to spend."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

from coder_tui.agent.request_builder import ModelChoice, RequestBuilder
from coder_tui.agent.usage_meter import UsageMeter
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.protocol.requests import Option, Question, QuestionAnswer, QuestionRequest
from coder_tui.tools.ports import Asker, NobodyThere

STOP = "Stop here"
LEAST_RAISE = 0.10
"""Dollars: twice a limit of nothing would be nothing again."""
_AMOUNT = re.compile(r"\$?\s*(\d+(?:\.\d+)?)\s*\$?")
_FUZZ = 1e-9


def no_cheaper_model(name: str) -> ModelChoice | None:
    """For a session that has one model only."""
    return None


def tell_nobody(level: NoticeLevel, text: str) -> None:
    """For a session that nobody watches."""


def money(dollars: float) -> str:
    """Cents, and where that would say nothing, parts of them."""
    return f"${dollars:.4f}" if 0 < dollars < LEAST_RAISE else f"${dollars:.2f}"


@dataclass(frozen=True, slots=True)
class _Offer:
    """What a person can do about a limit that is near."""

    limit: float
    spent: float
    cheaper: ModelChoice | None

    @property
    def raised(self) -> float:
        return max(2 * self.limit, self.limit + LEAST_RAISE)

    @property
    def for_cheaper(self) -> float:
        """What is left may do for it; where nothing is, it needs more, too."""
        return self.raised if self.spent >= self.limit - _FUZZ else self.limit

    @property
    def further(self) -> str:
        return f"Go on, up to {money(self.raised)}"

    @property
    def other(self) -> str:
        return f"Go on with {self.cheaper.name}" if self.cheaper else ""

    def question(self) -> Question:
        options = [Option(STOP, "What was done stays; the next message asks again."), Option(self.further)]
        if self.cheaper is not None:
            options.append(Option(self.other, f"A smaller model, up to {money(self.for_cheaper)}."))
        told = (
            f"This session has cost {money(self.spent)}; the next model call would pass {money(self.limit)}."
        )
        return Question(f"{told} Or type another limit in dollars.", tuple(options), header="Spend limit")


class SpendCap:
    """One for a session and its sub-agents: what one of them is answered holds for all."""

    def __init__(
        self,
        limit: float | None,
        asker: Asker,
        cheaper: Callable[[str], ModelChoice | None] = no_cheaper_model,
        notify: Callable[[NoticeLevel, str], None] = tell_nobody,
    ) -> None:
        self.limit = limit
        self._asker = asker
        self._cheaper = cheaper
        self._notify = notify
        self._switch: Callable[[ModelChoice], None] = lambda choice: None
        self._lock = asyncio.Lock()
        self._end = ""

    def switch_by(self, switch: Callable[[ModelChoice], None]) -> None:
        """How the session is told to go on with another model."""
        self._switch = switch

    def begin(self) -> None:
        """A new turn: the person may have changed their mind."""
        self._end = ""

    async def before_call(self, meter: UsageMeter, request: RequestBuilder) -> str:
        """Empty when the next call may be made, else why not."""
        # Sub-agents work side by side: whoever comes second goes by what the first was answered.
        async with self._lock:
            while not self._end and self._is_near(meter):
                self._end = await self._ask(meter, request)
            return self._end

    def _is_near(self, meter: UsageMeter) -> bool:
        """A call sends what the one before it sent, and more: it will hardly cost less."""
        if self.limit is None:
            return False
        spent = meter.spent.cost or 0
        return spent >= self.limit - _FUZZ or spent + meter.last_cost > self.limit + _FUZZ

    async def _ask(self, meter: UsageMeter, request: RequestBuilder) -> str:
        offer = _Offer(self.limit or 0, meter.spent.cost or 0, self._cheaper(request.model))
        request_id = uuid4().hex
        asked = QuestionRequest(request_id, f"limit-{request_id}", (offer.question(),), tool="spend limit")
        reply = await self._asker.ask(asked)
        answer = reply.answers[0] if reply.answers else QuestionAnswer()
        if offer.further in answer.picked:
            return self._raise(offer.raised)
        if offer.cheaper is not None and offer.other in answer.picked:
            return self._go_cheaper(offer.cheaper, offer.for_cheaper, meter, request)
        amount = _AMOUNT.fullmatch(answer.text.strip())
        if amount and float(amount[1]) > offer.limit:
            return self._raise(float(amount[1]))
        return f"Stopped at {money(offer.spent)}: the spend limit is {money(offer.limit)} (limits.max_cost)."

    def _raise(self, limit: float) -> str:
        self.limit = limit
        self._notify(NoticeLevel.INFO, f"The spend limit of this session is {money(limit)} now.")
        return ""

    def _go_cheaper(
        self, choice: ModelChoice, limit: float, meter: UsageMeter, request: RequestBuilder
    ) -> str:
        self._switch(choice)
        request.use(choice)
        # What the dearer one cost says nothing of this one.
        meter.last_cost = 0
        return self._raise(limit)


def no_cap() -> SpendCap:
    """For work that may cost what it costs."""
    return SpendCap(None, NobodyThere())
