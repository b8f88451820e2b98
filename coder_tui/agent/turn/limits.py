"""When a turn must stop or ask: steps, time, and calls that go in circles.

Asks the person before a session costs more than they wanted to spend.
"""

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from uuid import uuid4

from coder_tui.agent.turn.model_request import ModelChoice, RequestBuilder
from coder_tui.agent.turn.usage import UsageMeter
from coder_tui.llm.client import ModelRequest
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.messages import Message, ToolCall
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.protocol.requests import Option, Question, QuestionAnswer, QuestionRequest
from coder_tui.tools.ports import Asker, NobodyThere


@dataclass(frozen=True, slots=True)
class Limits:
    max_steps: int = 200
    max_minutes: float | None = None
    repeated_calls: int = 3

    @property
    def seconds(self) -> float | None:
        return None if self.max_minutes is None else self.max_minutes * 60

    @property
    def out_of_time(self) -> str:
        return f"Stopped after {self.max_minutes:g} minutes, the limit of one turn (limits.max_minutes)."

    def exceeded(self, steps: int) -> str:
        """The sentence that says which limit was met; empty while none is."""
        if steps >= self.max_steps:
            calls = "1 model call" if steps == 1 else f"{steps} model calls"
            return f"Stopped after {calls}, the limit of one turn (limits.max_steps, --max-turns)."
        return ""


class RepeatDetector:
    """Notices the same call again and again, and two calls that take turns."""

    _LONGEST_CYCLE = 2

    def __init__(self, threshold: int) -> None:
        self._threshold = threshold
        self._recent: deque[tuple[str, str]] = deque(maxlen=threshold * self._LONGEST_CYCLE)

    def is_repeat(self, call: ToolCall) -> bool:
        """Note the call; True when it completes `threshold` rounds of the same one or two calls."""
        self._recent.append((call.name, call.arguments))
        recent = list(self._recent)
        return any(self._ends_in_cycle(recent, length) for length in range(1, self._LONGEST_CYCLE + 1))

    def _ends_in_cycle(self, recent: list[tuple[str, str]], length: int) -> bool:
        tail = recent[-length * self._threshold :]
        return len(tail) == length * self._threshold and tail == tail[:length] * self._threshold


STOP = "Stop here"
LEAST_RAISE = 0.10
"""Dollars: twice a limit of nothing would be nothing again."""
_AMOUNT = re.compile(r"\$?\s*(\d+(?:\.\d+)?)\s*\$?")
_FUZZ = 1e-9


class SpendLimitError(UserError):
    """A call was not made, since the person does not want to pay for it."""


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
    held: float
    """What calls that run now may cost."""
    cheaper: ModelChoice | None

    @property
    def raised(self) -> float:
        return max(2 * self.limit, self.limit + LEAST_RAISE)

    @property
    def for_cheaper(self) -> float:
        """What is left may do for it; where nothing is, it needs more, too."""
        return self.raised if self.spent + self.held >= self.limit - _FUZZ else self.limit

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
        running = f", calls that run now may cost {money(self.held)}" if self.held > _FUZZ else ""
        told = f"This session has cost {money(self.spent)}{running}; the next model call would pass"
        told = f"{told} {money(self.limit)}."
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
        self._held = 0.0

    def switch_by(self, switch: Callable[[ModelChoice], None]) -> None:
        """How the session is told to go on with another model."""
        self._switch = switch

    def begin(self) -> None:
        """A new turn: the person may have changed their mind."""
        self._end = ""

    @asynccontextmanager
    async def call(
        self, meter: UsageMeter, request: RequestBuilder, messages: tuple[Message, ...]
    ) -> AsyncIterator[None]:
        """Around a call and its booking: what it may cost is held back meanwhile.

        Asks before the limit is passed; `SpendLimitError` where the person does not want that.
        """
        # Sub-agents work side by side: whoever comes second goes by what the first was answered.
        async with self._lock:
            expected = await self._expected(meter, request(messages))
            while not self._end and self._is_near(meter, expected):
                self._end = await self._ask(meter, request)
                # The answer may be another model.
                expected = await self._expected(meter, request(messages))
            if self._end:
                raise SpendLimitError(self._end)
            self._held += expected
        with self._holding(expected):
            yield

    @asynccontextmanager
    async def aside(self, meter: UsageMeter, request: ModelRequest) -> AsyncIterator[None]:
        """As `call`, for what nobody is asked about: it is not made where it would pass the limit."""
        async with self._lock:
            expected = await self._expected(meter, request)
            if self._end or self._is_near(meter, expected):
                raise SpendLimitError(_stopped(meter.spent.cost or 0, self.limit or 0))
            self._held += expected
        with self._holding(expected):
            yield

    @contextmanager
    def _holding(self, dollars: float) -> Iterator[None]:
        try:
            yield
        finally:
            self._held -= dollars

    async def _expected(self, meter: UsageMeter, request: ModelRequest) -> float:
        return 0.0 if self.limit is None else await meter.expected_cost(request)

    def _is_near(self, meter: UsageMeter, expected: float) -> bool:
        if self.limit is None:
            return False
        spent = (meter.spent.cost or 0) + self._held
        return spent >= self.limit - _FUZZ or spent + expected > self.limit + _FUZZ

    async def _ask(self, meter: UsageMeter, request: RequestBuilder) -> str:
        spent = meter.spent.cost or 0
        offer = _Offer(self.limit or 0, spent, self._held, self._cheaper(request.model))
        request_id = uuid4().hex
        asked = QuestionRequest(request_id, f"limit-{request_id}", (offer.question(),), tool="spend limit")
        reply = await self._asker.ask(asked)
        answer = reply.answers[0] if reply.answers else QuestionAnswer()
        if offer.further in answer.picked:
            return self._raise(offer.raised)
        if offer.cheaper is not None and offer.other in answer.picked:
            return self._go_cheaper(offer.cheaper, offer.for_cheaper, request)
        amount = _AMOUNT.fullmatch(answer.text.strip())
        if amount and float(amount[1]) > offer.limit:
            return self._raise(float(amount[1]))
        return _stopped(offer.spent, offer.limit)

    def _raise(self, limit: float) -> str:
        self.limit = limit
        self._notify(NoticeLevel.INFO, f"The spend limit of this session is {money(limit)} now.")
        return ""

    def _go_cheaper(self, choice: ModelChoice, limit: float, request: RequestBuilder) -> str:
        self._switch(choice)
        request.use(choice)
        return self._raise(limit)


def _stopped(spent: float, limit: float) -> str:
    return f"Stopped at {money(spent)}: the spend limit is {money(limit)} (limits.max_cost)."


def no_cap() -> SpendCap:
    """For work that may cost what it costs."""
    return SpendCap(None, NobodyThere())
