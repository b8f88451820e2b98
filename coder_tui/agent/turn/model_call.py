"""Send one request to the model: publish its stream as events, retry if that is safe, build the reply."""

import asyncio
import random
from collections.abc import Callable, Container, Coroutine
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import uuid4

from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.turn.usage import UsageMeter
from coder_tui.llm.client import (
    ModelClient,
    ModelRequest,
    RetryPolicy,
    StreamFinished,
    StreamItem,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
)
from coder_tui.protocol.errors import ModelError, ModelErrorKind
from coder_tui.protocol.events import RetryScheduled, TextDelta, ThinkingDelta, ToolProposed
from coder_tui.protocol.messages import AssistantMessage, FinishReason, ToolCall, Usage
from coder_tui.tasks import finish_despite_cancel
from coder_tui.tools.aliases import canonical_name


@dataclass(slots=True)
class CallDraft:
    id: str
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    received: int = 0


@dataclass(slots=True)
class ReplyDraft:
    """A reply in the making; only a finished draft becomes a message with calls."""

    message_id: str = ""
    used_ids: Container[str] = frozenset()
    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    calls: dict[int, CallDraft] = field(default_factory=dict)
    finished: StreamFinished | None = None

    def add(self, item: StreamItem) -> None:
        match item:
            case TextChunk():
                self.text.append(item.text)
            case ThinkingChunk():
                self.thinking.append(item.text)
            case ToolCallChunk():
                self._add_call(item)
            case StreamFinished():
                self.finished = item

    def _add_call(self, item: ToolCallChunk) -> None:
        draft = self.calls.get(item.index)
        if draft is None:
            draft = self.calls[item.index] = CallDraft(self._unique(item.id))
        draft.name = draft.name or item.name
        draft.arguments.append(item.arguments)
        draft.received += len(item.arguments)

    def _unique(self, wanted: str) -> str:
        """Return an unused id: results are found by id, yet some servers count from zero in every reply."""
        taken = wanted in self.used_ids or any(draft.id == wanted for draft in self.calls.values())
        return wanted if wanted and not taken else f"call_{uuid4().hex[:20]}"

    @property
    def is_cut(self) -> bool:
        """Whether the model ran into its output limit: its last call may be half written."""
        return self.finished is not None and self.finished.reason is FinishReason.LENGTH

    @property
    def whole_text(self) -> str:
        return "".join(self.text)

    @property
    def whole_thinking(self) -> str:
        return "".join(self.thinking)

    @property
    def said(self) -> str:
        """All that was streamed so far, which is what the provider bills."""
        calls = (f"{draft.name}{''.join(draft.arguments)}" for draft in self.calls.values())
        return "".join((*self.thinking, *self.text, *calls))

    def message(self, model: str, known_tools: frozenset[str]) -> AssistantMessage:
        """Return the reply to store. Calls and thinking of an unfinished stream are left out."""
        if self.finished is None:
            return AssistantMessage(self.message_id, self.whole_text, model=model)
        calls = tuple(
            ToolCall(draft.id, canonical_name(draft.name, known_tools), "".join(draft.arguments))
            for _, draft in sorted(self.calls.items())
        )
        return AssistantMessage(
            self.message_id,
            self.whole_text,
            self.finished.thinking,
            calls,
            model,
            FinishReason.TOOL_CALLS if calls and not self.is_cut else self.finished.reason,
            self.finished.usage,
        )


class ModelStep:
    """Sends requests. Nothing of a failed attempt is kept: a reply counts only if its stream was complete."""

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
        """Drop the draft, once it became a message or its attempt failed."""
        self.draft = ReplyDraft()

    async def _stream(self, request: ModelRequest) -> None:
        # aclosing: leaving the loop early must stop the request at once, not at the next garbage collection.
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


async def one_shot_reply(
    client: ModelClient,
    request: ModelRequest,
    meter: UsageMeter,
    pay: Callable[[AssistantMessage], Coroutine[Any, Any, None]],
) -> AssistantMessage:
    """Ask a model one question outside the conversation; `pay` counts the reply, also if it was stopped."""
    said: list[str] = []
    try:
        usage = await _read(client, request, said)
    except asyncio.CancelledError:
        if stopped := meter.stopped(request, "".join(said)):
            await finish_despite_cancel(pay(stopped))
        raise
    reply = AssistantMessage(uuid4().hex, "".join(said).strip(), model=request.model, usage=usage)
    await pay(reply)
    return reply


async def _read(client: ModelClient, request: ModelRequest, said: list[str]) -> Usage:
    usage = Usage()
    stream = cast(Any, client.stream(request))
    async with aclosing(stream):
        async for item in stream:
            match item:
                case TextChunk():
                    said.append(item.text)
                case StreamFinished():
                    usage = item.usage
    return usage
