"""A model that says what a test tells it to, in this process."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from typing import Any

from coder_tui.llm.client import (
    ModelRequest,
    StreamFinished,
    StreamItem,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
)
from coder_tui.protocol.errors import ModelError
from coder_tui.protocol.messages import FinishReason, Usage

_MANY_WORDS = 1000


@dataclass(frozen=True, slots=True)
class Say:
    """One reply. `error` is raised after the text; `hangs` never ends after the text."""

    text: str = ""
    calls: tuple[tuple[str, dict[str, Any] | str], ...] = ()
    thinking: str = ""
    error: ModelError | None = None
    hangs: bool = False
    ids: tuple[str, ...] = ()
    finish: FinishReason | None = None
    usage: Usage = field(default_factory=lambda: Usage(10, 5, cost=0.01))


def _pieces(text: str) -> list[str]:
    """Cut a text into words, and a long one into pieces that no test has to wait for."""
    if len(text) > _MANY_WORDS:
        return [text[start : start + _MANY_WORDS] for start in range(0, len(text), _MANY_WORDS)]
    return re.findall(r"^[^ ]+| [^ ]*", text)


class ScriptedModel:
    """Plays its replies in order and keeps every request; `reached` is set when it hangs."""

    def __init__(self, replies: Iterable[Say]) -> None:
        self._replies = list(replies)
        self.requests: list[ModelRequest] = []
        self.reached = asyncio.Event()
        self.was_closed_early = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamItem]:
        self.requests.append(request)
        reply = self._replies[len(self.requests) - 1]
        if reply.thinking:
            yield ThinkingChunk(reply.thinking)
        for piece in _pieces(reply.text):
            yield TextChunk(piece)
        for index, (name, arguments) in enumerate(reply.calls):
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            call_id = reply.ids[index] if reply.ids else f"c{len(self.requests)}_{index}"
            yield ToolCallChunk(index, call_id, name, text)
        if reply.hangs:
            self.reached.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.was_closed_early = True
        if reply.error:
            raise reply.error
        fitting = FinishReason.TOOL_CALLS if reply.calls else FinishReason.STOP
        yield StreamFinished(reply.finish or fitting, usage=reply.usage)

    async def warm(self) -> None:
        return None

    async def close(self) -> None:
        return None
