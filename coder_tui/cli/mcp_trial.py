"""Starts MCP servers only to see whether they work, or to log in to one."""

import asyncio
from collections.abc import Callable

from coder_tui.bootstrap import Setup
from coder_tui.bootstrap.mcp import Servers, build_servers, find_servers
from coder_tui.mcp.pool import McpPool, ServerView
from coder_tui.mcp.wire import ServerState
from coder_tui.protocol.errors import UsageError

_LOGIN_SECONDS = 320.0


async def tried(setup: Setup, names: list[str]) -> tuple[ServerView, ...]:
    """Each of these servers, or all, as soon as it works or has given up; none runs on."""
    pool = _pool(setup, names)
    pool.start()
    try:
        await asyncio.gather(*(_ended(pool, view.name) for view in pool.views))
        return pool.views
    finally:
        await pool.close()


def _pool(setup: Setup, names: list[str]) -> McpPool:
    found = find_servers(setup)
    known = {server.name: server for server in found.known}
    for name in names:
        if name not in known:
            raise UsageError(f"there is no MCP server {name}; there are {', '.join(known) or 'none'}")
    wanted = tuple(server for server in found.known if not names or server.name in names)
    return build_servers(setup, Servers(wanted))


async def _ended(pool: McpPool, name: str) -> None:
    """Until it works or has given up; a link to log in at is there while somebody waits behind it."""
    moved = asyncio.Event()
    deaf = pool.watch(moved.set)
    try:
        while (view := pool.view(name)) is not None and (view.state is ServerState.STARTING or view.link):
            await moved.wait()
            moved.clear()
    finally:
        deaf()


async def logged_in(setup: Setup, name: str, show: Callable[[str], None]) -> ServerView:
    """The server after a person logged in, or did not; `show` gets the address to go to."""
    pool = _pool(setup, [name])
    (view,) = pool.views
    if view.known.order is None or not view.known.order.url:
        raise UsageError(f"{name} cannot be logged in to: {view.detail or 'it runs on this machine'}")
    told: list[str] = []

    def tell() -> None:
        now = pool.view(name)
        if now is not None and now.link and now.link not in told:
            told.append(now.link)
            show(now.link)

    deaf = pool.watch(tell)
    try:
        pool.start()
        await _ended(pool, name)
        async with asyncio.timeout(_LOGIN_SECONDS):
            await pool.restart(name, logs_in=True)
            await _ended(pool, name)
        return pool.view(name) or view
    finally:
        deaf()
        await pool.close()
