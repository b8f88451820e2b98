"""A model with a real window: more than that is refused, whatever is thought of it."""

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

from coder_tui.llm.client import (
    ModelRequest,
    StreamFinished,
    StreamItem,
    TextChunk,
    ToolCallChunk,
    estimate_request,
)
from coder_tui.protocol.errors import ModelError, ModelErrorKind
from coder_tui.protocol.messages import FinishReason, Usage


class WindowedModel:
    """Says `reply` to all, and `summary` where it has no tools, as for a summary. It begins with `calls`."""

    def __init__(
        self,
        window: int,
        *,
        summary: str = "the story",
        reply: str = "ok",
        calls: Sequence[tuple[str, dict[str, Any]]] = (),
        is_named: bool = False,
    ) -> None:
        self.window = window
        self._calls = calls
        self._named = window if is_named else None
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
            raise ModelError(ModelErrorKind.OVERFLOW, "too long", window=self._named)
        calls = () if self.taken else self._calls
        self.taken.append(request)
        said = self.reply if request.tools else self.summary
        if said:
            yield TextChunk(said)
        for index, (name, arguments) in enumerate(calls):
            yield ToolCallChunk(index, f"call-{index}", name, json.dumps(arguments))
        reason = FinishReason.TOOL_CALLS if calls else FinishReason.STOP
        yield StreamFinished(reason, usage=Usage(size, 5, cost=0.01))

    async def warm(self) -> None:
        return None

    async def close(self) -> None:
        return None
