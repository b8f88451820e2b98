"""The first turn says which servers it waits for."""

import asyncio

from coder_tui.mcp.wire import ServerState
from coder_tui.protocol.outcomes import NoticeLevel
from tests.fakes.mcp_views import shown_desk, view


async def test_servers_that_are_slow_to_start_are_named() -> None:
    desk, pool = shown_desk(patience=60.0)
    told: asyncio.Queue[tuple[NoticeLevel, str]] = asyncio.Queue()
    desk.start(lambda level, text: told.put_nowait((level, text)))
    pool.show(view("slow", ServerState.STARTING), view("off", ServerState.OFF))
    waiting = asyncio.create_task(desk.prepare())
    assert await told.get() == (NoticeLevel.INFO, "Starting MCP servers: slow …")
    pool.show(view("slow", ServerState.OFF))
    await waiting
    assert told.empty()


async def test_nothing_is_said_where_no_server_starts() -> None:
    desk, pool = shown_desk()
    told: list[str] = []
    desk.start(lambda level, text: told.append(text))
    pool.show(view("off", ServerState.OFF))
    await desk.prepare()
    assert told == []
