"""Items that arrive within a frame are sent together."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from coder_tui.llm import stream as frames_module
from coder_tui.llm.client import StreamItem, TextChunk, ThinkingChunk, ToolCallChunk
from coder_tui.llm.stream import Frames

Sent = list[tuple[StreamItem, ...]]


class Source:
    """Chunks that a test feeds by hand; an empty one ends the stream."""

    def __init__(self) -> None:
        self._chunks: asyncio.Queue[tuple[StreamItem, ...]] = asyncio.Queue()

    def feed(self, *items: StreamItem) -> None:
        self._chunks.put_nowait(items)

    async def __aiter__(self) -> AsyncIterator[tuple[StreamItem, ...]]:
        while chunk := await self._chunks.get():
            yield chunk


def itself(chunk: tuple[StreamItem, ...]) -> tuple[StreamItem, ...]:
    return chunk


def ends(chunk: tuple[StreamItem, ...]) -> bool:
    return TextChunk("the end") in chunk


class Outlet:
    """Collects what is sent and lets a test wait for it."""

    def __init__(self) -> None:
        self.sent: Sent = []
        self._arrived = asyncio.Event()

    def __call__(self, items: tuple[StreamItem, ...]) -> None:
        self.sent.append(items)
        self._arrived.set()

    async def next(self) -> tuple[StreamItem, ...]:
        await self._arrived.wait()
        self._arrived.clear()
        return self.sent[-1]


async def test_the_first_item_goes_while_the_source_is_still_silent() -> None:
    source, outlet = Source(), Outlet()
    relaying = asyncio.ensure_future(Frames(outlet).relay(aiter(source), itself, ends))
    source.feed(TextChunk("a"))
    assert await outlet.next() == (TextChunk("a"),)
    source.feed()
    await relaying


async def test_what_comes_within_the_frame_is_merged_by_kind() -> None:
    source, outlet = Source(), Outlet()
    relaying = asyncio.ensure_future(Frames(outlet).relay(aiter(source), itself, ends))
    source.feed(TextChunk("a"))
    await outlet.next()
    source.feed(ThinkingChunk("h"), ThinkingChunk("m"))
    source.feed(TextChunk("b"))
    source.feed(TextChunk("c"))
    source.feed(ToolCallChunk(0, "i", "read", "{"))
    source.feed(ToolCallChunk(0, arguments="}"), ToolCallChunk(1, "j", "read", "{}"))
    assert await outlet.next() == (
        ThinkingChunk("hm"),
        TextChunk("bc"),
        ToolCallChunk(0, "i", "read", "{}"),
        ToolCallChunk(1, "j", "read", "{}"),
    )
    source.feed()
    await relaying


async def test_a_flood_is_sent_although_its_source_never_pauses() -> None:
    async def flood() -> AsyncIterator[tuple[StreamItem, ...]]:
        while not outlet.sent:
            yield (TextChunk("x"),)

    outlet = Outlet()
    await Frames(outlet).relay(flood(), itself, ends)
    assert outlet.sent == [(TextChunk("x"),)]


async def test_the_last_items_go_with_the_flush() -> None:
    source, outlet = Source(), Outlet()
    frames = Frames(outlet)
    relaying = asyncio.ensure_future(frames.relay(aiter(source), itself, ends))
    source.feed(TextChunk("a"))
    await outlet.next()
    source.feed(TextChunk("b"))
    source.feed()
    await relaying
    frames.add(TextChunk("c"))
    frames.flush()
    assert outlet.sent == [(TextChunk("a"),), (TextChunk("bc"),)]


async def test_dropped_items_are_never_sent() -> None:
    outlet = Outlet()
    frames = Frames(outlet)
    frames.add(TextChunk("b"))
    frames.drop()
    frames.flush()
    assert outlet.sent == []


async def test_a_failing_source_fails_the_relay() -> None:
    async def broken() -> AsyncIterator[tuple[StreamItem, ...]]:
        yield (TextChunk("a"),)
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        await Frames(Outlet()).relay(broken(), itself, ends)


async def test_the_end_of_a_reply_goes_at_once_though_its_frame_is_not_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(frames_module, "FRAME", 3600.0)
    source, outlet = Source(), Outlet()
    relaying = asyncio.ensure_future(Frames(outlet).relay(aiter(source), itself, ends))
    source.feed(TextChunk("a"))
    assert await outlet.next() == (TextChunk("a"),)
    source.feed(TextChunk("the end"))
    assert await outlet.next() == (TextChunk("the end"),)
    source.feed(ThinkingChunk("counts"))
    assert await outlet.next() == (ThinkingChunk("counts"),)
    source.feed()
    await relaying
