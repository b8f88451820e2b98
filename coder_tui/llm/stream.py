"""Reads litellm's chunks, which differ from server to server, into our stream items, and batches them.

What arrives within one frame is read and sent together: a litellm chunk costs about a millisecond if it
wakes the process alone, half of that in a batch.
"""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from coder_tui.llm.client import StreamFinished, StreamItem, TextChunk, ThinkingChunk, ToolCallChunk
from coder_tui.protocol.messages import FinishReason, ThinkingBlock, Usage

FRAME = 0.01
ChunkT = TypeVar("ChunkT")


class Frames:
    """Sends merged items once per frame while they keep coming; the first after a pause is sent at once."""

    def __init__(self, send: Callable[[tuple[StreamItem, ...]], None]) -> None:
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._items: list[StreamItem] = []
        self._has_waited = False
        self._sent_at = float("-inf")

    async def relay(
        self,
        chunks: AsyncIterator[ChunkT],
        read: Callable[[ChunkT], Iterable[StreamItem]],
        is_last: Callable[[ChunkT], bool],
    ) -> None:
        """Send the items that `read` returns for each chunk, until the chunks end.

        After the chunk that `is_last`, which only token counts may follow, nothing is delayed any more.
        """
        has_ended = False
        while True:
            try:
                chunk = await self._next(chunks)
            except StopAsyncIteration:
                return
            for item in read(chunk):
                self.add(item)
            has_ended = has_ended or is_last(chunk)
            if has_ended:
                self.flush()
            else:
                await self._keep_pace()

    def add(self, item: StreamItem) -> None:
        """Add an item to those that wait."""
        merged = _merge(self._items[-1], item) if self._items else None
        if merged is None:
            self._items.append(item)
        else:
            self._items[-1] = merged

    def flush(self) -> None:
        """Send all waiting items now."""
        if self._items:
            items, self._items = tuple(self._items), []
            self._sent_at = self._loop.time()
            self._send(items)

    def drop(self) -> None:
        """Drop all waiting items."""
        self._items.clear()

    async def _next(self, chunks: AsyncIterator[ChunkT]) -> ChunkT:
        self._has_waited = False
        # The loop runs this callback only if no chunk is ready.
        ran_dry = self._loop.call_soon(self._run_dry)
        try:
            return await anext(chunks)
        finally:
            ran_dry.cancel()

    def _run_dry(self) -> None:
        self._has_waited = True
        self.flush()

    async def _keep_pace(self) -> None:
        age = self._loop.time() - self._sent_at
        if self._has_waited and age < FRAME:
            await asyncio.sleep(FRAME - age)
        elif not self._has_waited and age >= 2 * FRAME:
            # In a flood nothing ever waits: send anyway, and let the loop run other tasks.
            self.flush()
            await asyncio.sleep(0)


def _merge(last: StreamItem, item: StreamItem) -> StreamItem | None:
    match last, item:
        case TextChunk(), TextChunk():
            return TextChunk(last.text + item.text)
        case ThinkingChunk(), ThinkingChunk():
            return ThinkingChunk(last.text + item.text)
        case ToolCallChunk(), ToolCallChunk() if last.index == item.index:
            return replace(last, arguments=last.arguments + item.arguments)
        case _:
            return None


_REASONS = {
    "stop": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.REFUSAL,
    "refusal": FinishReason.REFUSAL,
}


@dataclass(slots=True)
class ReplyReader:
    """The state of one reply while its chunks arrive; `usage` is litellm's object."""

    usage: Any = None
    is_empty: bool = True
    _thinking: list[ThinkingBlock] = field(default_factory=list)
    _calls: dict[int, tuple[int, str]] = field(default_factory=dict)
    _ids: list[str] = field(default_factory=list)

    def read(self, chunk: Any) -> list[StreamItem]:
        """Return the items of one chunk; no item repeats an earlier one."""
        if (usage := getattr(chunk, "usage", None)) is not None:
            self.usage = usage
        if not chunk.choices:
            return []
        delta = chunk.choices[0].delta
        items: list[StreamItem] = []
        if thought := self._read_thinking(delta):
            items.append(ThinkingChunk(thought))
        if delta.content:
            items.append(TextChunk(delta.content))
        items.extend(self._read_call(call) for call in delta.tool_calls or ())
        self.is_empty = self.is_empty and not items
        return items

    def finish(self, reason: str, cost: float | None) -> StreamFinished:
        """Return the closing item; `reason` is the finish reason that the server sent."""
        known = _REASONS.get(reason, FinishReason.STOP)
        if known is FinishReason.STOP and self._ids:
            # Some servers say "stop" after a tool call.
            known = FinishReason.TOOL_CALLS
        return StreamFinished(known, tuple(self._thinking), replace(usage_of(self.usage), cost=cost))

    def _read_thinking(self, delta: Any) -> str:
        text: str = getattr(delta, "reasoning_content", None) or ""
        blocks = getattr(delta, "thinking_blocks", None) or ()
        for block in blocks:
            self._add_block(block)
        if text and not blocks:
            self._extend_thinking(text, None)
        return text

    def _add_block(self, block: Any) -> None:
        if block.get("type") == "redacted_thinking":
            self._thinking.append(ThinkingBlock(redacted_data=block.get("data")))
            return
        self._extend_thinking(block.get("thinking") or "", block.get("signature") or None)

    def _extend_thinking(self, text: str, signature: str | None) -> None:
        """Extend the last thinking block; a signature closes its block, and the next text starts another."""
        last = self._thinking[-1] if self._thinking else None
        if last is None or last.signature is not None or last.redacted_data is not None:
            self._thinking.append(ThinkingBlock(text, signature))
        else:
            self._thinking[-1] = replace(last, text=last.text + text, signature=signature)

    def _read_call(self, call: Any) -> ToolCallChunk:
        name, arguments = call.function.name or "", call.function.arguments or ""
        known = self._calls.get(call.index)
        if known is not None and not (name and _starts_call(call.id, arguments, known[1])):
            return ToolCallChunk(known[0], arguments=arguments)
        # Results are matched by id, so each call needs a unique one.
        identity = call.id if call.id and call.id not in self._ids else f"call_{uuid.uuid4().hex[:12]}"
        index = len(self._ids)
        self._calls[call.index] = (index, call.id or "")
        self._ids.append(identity)
        return ToolCallChunk(index, identity, name, arguments)


def _starts_call(identity: str | None, arguments: str, known: str) -> bool:
    """Return whether a named call is a new one although its index belongs to an earlier call.

    Some servers give every call the same index, and ids only to calls that have arguments.
    """
    if identity:
        return identity != known
    try:
        return isinstance(json.loads(arguments), dict)
    except ValueError:
        return False


def is_last(chunk: Any) -> bool:
    """Return whether the reply is over; only token counts may follow."""
    return bool(chunk.choices) and getattr(chunk.choices[0], "finish_reason", None) is not None


def with_end_marks(parse: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap litellm's parser of Gemini chunks so that it marks the chunk that ends the reply.

    litellm gives every chunk a finish reason, "stop" if the server sent none, and marks none of them as the
    last. Only what the server sent distinguishes a finished reply from one that was cut off.
    """

    def parse_with_mark(reader: Any, chunk: Mapping[str, Any]) -> Any:
        parsed = parse(reader, chunk)
        parsed.hidden_params["is_finished"] = _ends_gemini_reply(chunk)
        return parsed

    return parse_with_mark


def _ends_gemini_reply(chunk: Mapping[str, Any]) -> bool:
    is_blocked = bool((chunk.get("promptFeedback") or {}).get("blockReason"))
    return is_blocked or any(candidate.get("finishReason") for candidate in chunk.get("candidates") or ())


def usage_of(usage: Any) -> Usage:
    """Convert litellm's counts: input includes cached tokens, output includes reasoning tokens."""
    if usage is None:
        return Usage()
    prompt = getattr(usage, "prompt_tokens_details", None)
    completion = getattr(usage, "completion_tokens_details", None)
    return Usage(
        input_tokens=usage.prompt_tokens or 0,
        output_tokens=usage.completion_tokens or 0,
        cached_tokens=getattr(prompt, "cached_tokens", None) or 0,
        cache_write_tokens=getattr(prompt, "cache_creation_tokens", None) or 0,
        reasoning_tokens=getattr(completion, "reasoning_tokens", None) or 0,
    )
