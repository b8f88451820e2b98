"""A model with a real window: more than that is refused, whatever is thought of it."""

from collections.abc import AsyncIterator

from coder_tui.llm.client import ModelRequest, StreamFinished, StreamItem, TextChunk
from coder_tui.llm.tokens import estimate_request
from coder_tui.protocol.errors import ModelError, ModelErrorKind
from coder_tui.protocol.messages import FinishReason
from coder_tui.protocol.usage import Usage


class WindowedModel:
    """Says `reply` to all, and `summary` where it has no tools, as for a summary."""

    def __init__(self, window: int, *, summary: str = "the story", reply: str = "ok") -> None:
        self.window = window
        self.summary = summary
        self.reply = reply
        self.refused = 0
        self.taken: list[ModelRequest] = []

    @property
    def summaries(self) -> int:
        return sum(not request.tools for request in self.taken)

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamItem]:
        size = estimate_request(request)
        if size > self.window:
            self.refused += 1
            raise ModelError(ModelErrorKind.OVERFLOW, "too long")
        self.taken.append(request)
        said = self.reply if request.tools else self.summary
        if said:
            yield TextChunk(said)
        yield StreamFinished(FinishReason.STOP, usage=Usage(size, 5, cost=0.01))

    async def warm(self) -> None:
        return None

    async def close(self) -> None:
        return None
