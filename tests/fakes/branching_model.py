"""A model for several agents at once: what it says depends on the first words of the conversation."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence

from coder_tui.llm.client import ModelRequest, StreamItem
from coder_tui.protocol.errors import ModelError, ModelErrorKind
from coder_tui.protocol.messages import UserMessage
from tests.fakes.scripted_model import Say, ScriptedModel


class BranchingModel:
    """`script` has the replies for each first message, in order.

    A reply that `hangs` sets `reached` of its branch; one in `holding` waits until its event is set.
    What nothing is scripted for gets the next of `otherwise`.
    """

    def __init__(self, script: Mapping[str, Sequence[Say]]) -> None:
        self._script = script
        self._said: Counter[str] = Counter()
        self.requests: dict[str, list[ModelRequest]] = defaultdict(list)
        self.reached: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.holding: dict[str, asyncio.Event] = {}
        self.otherwise: list[Say] = []
        self.under_way = 0
        self.most_at_once = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamItem]:
        branch = first_words(request)
        self.requests[branch].append(request)
        place, self._said[branch] = self._said[branch], self._said[branch] + 1
        replies = self._script.get(branch, ())
        if place < len(replies):
            reply = replies[place]
        elif self.otherwise:
            reply = self.otherwise.pop(0)
        else:
            raise ModelError(ModelErrorKind.BAD_REQUEST, f"Nothing is scripted for {branch!r}.")
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)
        try:
            self.reached[branch].set()
            if branch in self.holding:
                await self.holding[branch].wait()
            one = ScriptedModel([self._named(reply, branch, place)])
            async for item in one.stream(request):
                yield item
        finally:
            self.under_way -= 1

    def _named(self, reply: Say, branch: str, place: int) -> Say:
        """Calls of different conversations have different ids."""
        ids = tuple(f"{branch[:8]}-{place}-{number}" for number in range(len(reply.calls)))
        return Say(
            reply.text,
            reply.calls,
            reply.thinking,
            reply.error,
            reply.hangs,
            reply.ids or ids,
            reply.finish,
            reply.usage,
        )

    async def warm(self) -> None:
        return None

    async def close(self) -> None:
        return None


def first_words(request: ModelRequest) -> str:
    return next(message.text for message in request.messages if isinstance(message, UserMessage))
