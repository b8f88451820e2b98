"""One request to the model: streams its events, tries again where that is safe."""

import asyncio
import random
from collections.abc import Container
from contextlib import aclosing
from typing import Any, cast

from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.reply import ReplyDraft
from coder_tui.llm.client import (
    ModelClient,
    ModelRequest,
    StreamFinished,
    StreamItem,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
)
from coder_tui.llm.retry import RetryPolicy
from coder_tui.protocol.errors import ModelError, ModelErrorKind
from coder_tui.protocol.events import RetryScheduled, TextDelta, ThinkingDelta, ToolProposed


class ModelStep:
    """Nothing that a failed attempt streamed is kept: a reply counts only when it ended as it should."""

    def __init__(self, client: ModelClient, bus: EventBus, retry: RetryPolicy) -> None:
        self._client = client
        self._bus = bus
        self._retry = retry
        self.draft = ReplyDraft()

    async def run(self, request: ModelRequest, message_id: str, used_ids: Container[str]) -> ReplyDraft:
        attempt = 0
        while True:
            attempt += 1
            self.draft = ReplyDraft(message_id, used_ids)
            try:
                await self._stream(request)
                return self.draft
            except ModelError as error:
                self.forget()
                delay = self._retry.delay(attempt, error, random.random())
                if delay is None:
                    raise
                self._bus.publish(RetryScheduled(attempt, delay, error.message))
            await asyncio.sleep(delay)

    def forget(self) -> None:
        """The draft became a message; nothing of it is left to settle."""
        self.draft = ReplyDraft()

    async def _stream(self, request: ModelRequest) -> None:
        # aclosing: leaving the loop early must stop the request at once, not when the collector comes by.
        stream = cast(Any, self._client.stream(request))
        async with aclosing(stream):
            async for item in stream:
                self.draft.add(item)
                self._announce(item)
        if self.draft.finished is None:
            raise ModelError(ModelErrorKind.CUT, "The model's reply ended before it was complete.")

    def _announce(self, item: StreamItem) -> None:
        draft = self.draft
        match item:
            case TextChunk():
                self._bus.publish(TextDelta(draft.message_id, item.text))
            case ThinkingChunk():
                self._bus.publish(ThinkingDelta(draft.message_id, item.text))
            case ToolCallChunk():
                call = draft.calls[item.index]
                if call.name:
                    self._bus.publish(ToolProposed(call.id, call.name, call.received))
            case StreamFinished():
                pass
