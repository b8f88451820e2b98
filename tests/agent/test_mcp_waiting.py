"""The first turn says which servers it waits for."""

import asyncio

from coder_tui.mcp.wire import ServerState
from coder_tui.protocol.outcomes import NoticeLevel
from tests.fakes.mcp_views import shown_servers, view


async def test_servers_that_are_slow_to_start_are_named() -> None:
    reported: asyncio.Queue[tuple[NoticeLevel, str]] = asyncio.Queue()
    mcp, pool = shown_servers(patience=60.0, notify=lambda level, text: reported.put_nowait((level, text)))
    mcp.start()
    pool.show(view("slow", ServerState.STARTING), view("off", ServerState.OFF))
    waiting = asyncio.create_task(mcp.prepare())
    assert await reported.get() == (NoticeLevel.INFO, "Starting MCP servers: slow …")
    pool.show(view("slow", ServerState.OFF))
    await waiting
    assert reported.empty()


async def test_nothing_is_said_where_no_server_starts() -> None:
    reported: list[str] = []
    mcp, pool = shown_servers(notify=lambda level, text: reported.append(text))
    mcp.start()
    pool.show(view("off", ServerState.OFF))
    await mcp.prepare()
    assert reported == []
