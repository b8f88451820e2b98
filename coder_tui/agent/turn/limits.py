"""Decide when a turn must stop or ask: steps, time, repeated calls, and the spend limit."""

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from uuid import uuid4

from coder_tui.agent.turn.model_request import ModelChoice, RequestBuilder
from coder_tui.agent.turn.usage import UsageMeter
from coder_tui.llm.client import ModelRequest
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.messages import Message, ToolCall
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.protocol.requests import Option, Question, QuestionAnswer, QuestionRequest
from coder_tui.tools.ports import Asker


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
        """Describe the limit that was reached; empty if none was."""
        if steps >= self.max_steps:
            calls = "1 model call" if steps == 1 else f"{steps} model calls"
            return f"Stopped after {calls}, the limit of one turn (limits.max_steps, --max-turns)."
        return ""


class RepeatDetector:
    """Detects the same call again and again, and two calls that alternate."""

    _LONGEST_CYCLE = 2

    def __init__(self, threshold: int) -> None:
        self._threshold = threshold
        self._recent: deque[tuple[str, str]] = deque(maxlen=threshold * self._LONGEST_CYCLE)

    def is_repeat(self, call: ToolCall) -> bool:
        """Record the call; return True if it completes `threshold` rounds of the same one or two calls."""
        self._recent.append((call.name, call.arguments))
        recent = list(self._recent)
        return any(self._ends_in_cycle(recent, length) for length in range(1, self._LONGEST_CYCLE + 1))

    def _ends_in_cycle(self, recent: list[tuple[str, str]], length: int) -> bool:
        tail = recent[-length * self._threshold :]
        return len(tail) == length * self._threshold and tail == tail[:length] * self._threshold


STOP = "Stop here"
LEAST_RAISE = 0.10
"""Dollars: twice a limit of zero would be zero again."""
_AMOUNT = re.compile(r"\$?\s*(\d+(?:\.\d+)?)\s*\$?")
_FUZZ = 1e-9


class SpendLimitError(UserError):
    """A call was not made because the user does not want to pay for it."""


def money(dollars: float) -> str:
    """Format as dollars and cents; small amounts with parts of cents."""
    return f"${dollars:.4f}" if 0 < dollars < LEAST_RAISE else f"${dollars:.2f}"


@dataclass(frozen=True, slots=True)
class _Offer:
    """What the user can do about a limit that is near."""

    limit: float
    spent: float
    held: float
    """What the calls that run now may cost."""
    cheaper: ModelChoice | None

    @property
    def raised(self) -> float:
        return max(2 * self.limit, self.limit + LEAST_RAISE)

    @property
    def for_cheaper(self) -> float:
        """The limit for the cheaper model: the present one, or the raised one if nothing is left."""
        return self.raised if self.spent + self.held >= self.limit - _FUZZ else self.limit

    @property
    def further(self) -> str:
        return f"Go on, up to {money(self.raised)}"

    @property
    def other(self) -> str:
        return f"Go on with {self.cheaper.name}" if self.cheaper else ""

    def question(self) -> Question:
        options = [Option(STOP, "What was done stays. The next message asks again."), Option(self.further)]
        if self.cheaper is not None:
            options.append(Option(self.other, f"A smaller model, up to {money(self.for_cheaper)}."))
        running = f", calls that run now may cost {money(self.held)}" if self.held > _FUZZ else ""
        text = (
            f"This session has cost {money(self.spent)}{running}. The next model call would exceed "
            f"{money(self.limit)}. Choose, or type another limit in dollars."
        )
        return Question(text, tuple(options), header="Spend limit")


@dataclass(eq=False, slots=True)
class SpendLimit:
    """Shared by a session and its sub-agents: an answer to one of them applies to all.

    `cheaper` names a cheaper model, if there is one; `switch` makes the session go on with it.
    """

    limit: float | None
    asker: Asker
    cheaper: Callable[[str], ModelChoice | None]
    switch: Callable[[ModelChoice], None]
    notify: Callable[[NoticeLevel, str], None]
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _end: str = field(default="", init=False)
    _held: float = field(default=0.0, init=False)

    def begin(self) -> None:
        """Start a turn: the user may have changed their mind."""
        self._end = ""

    @asynccontextmanager
    async def call(
        self, meter: UsageMeter, request: RequestBuilder, messages: tuple[Message, ...]
    ) -> AsyncIterator[None]:
        """Reserve what a call may cost while it runs and is booked.

        Asks the user before the limit is exceeded; raises `SpendLimitError` if they decline.
        """
        # Sub-agents work at the same time: the answer to the first counts for those that wait.
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
    async def call_if_cheap(self, meter: UsageMeter, request: ModelRequest) -> AsyncIterator[None]:
        """As `call`, but without a question: raise `SpendLimitError` if it would exceed the limit."""
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
        offer = _Offer(self.limit or 0, spent, self._held, self.cheaper(request.model))
        request_id = uuid4().hex
        asked = QuestionRequest(request_id, f"limit-{request_id}", (offer.question(),), tool="spend limit")
        reply = await self.asker.ask(asked)
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
        self.notify(NoticeLevel.INFO, f"The spend limit of this session is {money(limit)} now.")
        return ""

    def _go_cheaper(self, choice: ModelChoice, limit: float, request: RequestBuilder) -> str:
        self.switch(choice)
        request.use(choice)
        return self._raise(limit)


def _stopped(spent: float, limit: float) -> str:
    return f"Stopped at {money(spent)}: the spend limit is {money(limit)} (limits.max_cost)."
