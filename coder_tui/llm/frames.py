"""Merges what arrives within one screen frame, so that a fast stream does not become a flood of lines."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from coder_tui.llm.client import StreamItem, TextChunk, ThinkingChunk, ToolCallChunk

FRAME = 0.016


class Frames:
    """Collects items and sends them a frame at a time; the first after a pause goes at once."""

    def __init__(self, send: Callable[[tuple[StreamItem, ...]], None]) -> None:
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._items: list[StreamItem] = []
        self._timer: asyncio.TimerHandle | None = None
        self._sent_at = -FRAME

    def add(self, item: StreamItem) -> None:
        merged = _merge(self._items[-1], item) if self._items else None
        if merged is None:
            self._items.append(item)
        else:
            self._items[-1] = merged
        if self._timer is not None:
            return
        wait = self._sent_at + FRAME - self._loop.time()
        if wait <= 0:
            self.flush()
        else:
            self._timer = self._loop.call_later(wait, self.flush)

    def flush(self) -> None:
        """Send what is waiting, now."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._items:
            items, self._items = tuple(self._items), []
            self._sent_at = self._loop.time()
            self._send(items)

    def drop(self) -> None:
        """Forget what is waiting."""
        self._items.clear()
        self.flush()


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
