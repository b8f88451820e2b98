"""Looks names up without holding a thread of the program's pool: a lookup cannot be called off."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from ipaddress import ip_address

from coder_tui.policy.addresses import IpAddress
from coder_tui.protocol.errors import ErrorType, ToolError

Resolver = Callable[[str], Awaitable[tuple[IpAddress, ...]]]
"""All addresses of a name; `ToolError` where there are none."""


async def system_resolver(host: str) -> tuple[IpAddress, ...]:
    """As every program of this machine sees the name, `/etc/hosts` included."""
    loop = asyncio.get_running_loop()
    found: asyncio.Future[tuple[IpAddress, ...]] = loop.create_future()

    def settle(addresses: tuple[IpAddress, ...], error: ToolError | None) -> None:
        if found.done():
            return
        if error is not None:
            found.set_exception(error)
        else:
            found.set_result(addresses)

    def look_up() -> None:
        addresses, error = _look_up(host)
        # The loop may be gone by the time a slow server answers.
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, addresses, error)

    # A daemon: the program can end while a name server keeps silent.
    threading.Thread(target=look_up, daemon=True, name="name lookup").start()
    return await found


def _look_up(host: str) -> tuple[tuple[IpAddress, ...], ToolError | None]:
    try:
        answers = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a valid name"
        return (), ToolError(ErrorType.NETWORK_ERROR, f"The name {host} was not found: {reason}.")
    return tuple(dict.fromkeys(ip_address(str(answer[4][0])) for answer in answers)), None
