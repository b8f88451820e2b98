"""Carries a stream on at the pace of a screen: what arrives within one frame is read and sent together.

A chunk of litellm's costs about a millisecond when each wakes the process by itself, half of that in company.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from coder_tui.llm.client import StreamItem, TextChunk, ThinkingChunk, ToolCallChunk

FRAME = 0.01
ChunkT = TypeVar("ChunkT")


class Frames:
    """Sends merged items, once a frame while they keep coming; the first after a pause goes at once."""

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
        """Send on what `read` makes of each chunk, to the end of them.

        After one that `is_last`, which only counts may follow, nothing is held back any more.
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
        """Put an item behind those that wait."""
        merged = _merge(self._items[-1], item) if self._items else None
        if merged is None:
            self._items.append(item)
        else:
            self._items[-1] = merged

    def flush(self) -> None:
        """Send what is waiting, now."""
        if self._items:
            items, self._items = tuple(self._items), []
            self._sent_at = self._loop.time()
            self._send(items)

    def drop(self) -> None:
        """Forget what is waiting."""
        self._items.clear()

    async def _next(self, chunks: AsyncIterator[ChunkT]) -> ChunkT:
        self._has_waited = False
        # The loop gets to this callback only if no chunk is at hand.
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
            # In a flood nothing ever waits: send all the same, and let the loop see to others.
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
