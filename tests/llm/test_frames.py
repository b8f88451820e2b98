"""Items that come within a frame leave together."""

import asyncio

from coder_tui.llm.client import StreamItem, TextChunk, ThinkingChunk, ToolCallChunk
from coder_tui.llm.frames import Frames


async def test_the_first_item_after_a_pause_goes_at_once() -> None:
    sent: list[tuple[StreamItem, ...]] = []
    Frames(sent.append).add(TextChunk("a"))
    assert sent == [(TextChunk("a"),)]


async def test_what_follows_within_the_frame_is_merged_by_kind() -> None:
    sent: list[tuple[StreamItem, ...]] = []
    arrived = asyncio.Event()

    def send(items: tuple[StreamItem, ...]) -> None:
        sent.append(items)
        if len(sent) == 2:
            arrived.set()

    frames = Frames(send)
    for item in (
        TextChunk("a"),
        ThinkingChunk("h"),
        ThinkingChunk("m"),
        TextChunk("b"),
        TextChunk("c"),
        ToolCallChunk(0, "i", "read", "{"),
        ToolCallChunk(0, arguments="}"),
        ToolCallChunk(1, "j", "read", "{}"),
    ):
        frames.add(item)
    await arrived.wait()
    assert sent == [
        (TextChunk("a"),),
        (
            ThinkingChunk("hm"),
            TextChunk("bc"),
            ToolCallChunk(0, "i", "read", "{}"),
            ToolCallChunk(1, "j", "read", "{}"),
        ),
    ]


async def test_flush_does_not_wait_for_the_frame() -> None:
    sent: list[tuple[StreamItem, ...]] = []
    frames = Frames(sent.append)
    frames.add(TextChunk("a"))
    frames.add(TextChunk("b"))
    frames.flush()
    assert sent == [(TextChunk("a"),), (TextChunk("b"),)]


async def test_dropped_items_are_never_sent() -> None:
    sent: list[tuple[StreamItem, ...]] = []
    frames = Frames(sent.append)
    frames.add(TextChunk("a"))
    frames.add(TextChunk("b"))
    frames.drop()
    frames.flush()
    assert sent == [(TextChunk("a"),)]
