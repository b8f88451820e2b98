"""Looks names up without holding a thread of the program's pool: a lookup cannot be called off.

Says where a name leads, and remembers the names that lead to no public place.
"""

import asyncio
import re
import socket
import threading
from collections.abc import Awaitable, Callable
from ipaddress import ip_address

from coder_tui.policy.addresses import IpAddress, Reach, literal_address, reach_of_host
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


ReachOf = Callable[[IpAddress], Reach]
# Names that no server outside of this network answers for: asking for them tells nobody anything.
_LOCAL_NAME = re.compile(
    r"[^.]+|.*\.(local|localdomain|internal|intranet|lan|home|corp|private|home\.arpa|test)"
)
_LOCAL_SECONDS = 2.0
_MOST_REMEMBERED = 256


class AddressBook:
    def __init__(self, resolver: Resolver, reach_of: ReachOf) -> None:
        self._resolver = resolver
        self.reach_of = reach_of
        self._remembered: dict[str, tuple[IpAddress, ...]] = {}

    async def look_up(self, host: str) -> tuple[IpAddress, ...]:
        """Every address of `host`, asked anew."""
        literal = literal_address(host)
        if literal is not None:
            return (literal,)
        found = await self._resolver(host)
        self._remembered.pop(host, None)
        if any(self.reach_of(address) is not Reach.PUBLIC for address in found):
            self._remembered[host] = found
            if len(self._remembered) > _MOST_REMEMBERED:
                del self._remembered[next(iter(self._remembered))]
        return found

    async def foretell(self, host: str) -> tuple[IpAddress, ...]:
        """The addresses of `host` that are not public, as far as they can be known before an approval.

        A name of the open net is not asked for: the question alone would carry the name, and whatever was
        put into it, to whoever owns its domain. Where such a name turned out private, that is remembered.
        """
        if literal_address(host) is not None or reach_of_host(host) is not Reach.PUBLIC:
            return ()
        found = self._remembered.get(host, ())
        if not found and _LOCAL_NAME.fullmatch(host):
            found = await self._ask_nearby(host)
        return tuple(address for address in found if self.reach_of(address) is not Reach.PUBLIC)

    async def _ask_nearby(self, host: str) -> tuple[IpAddress, ...]:
        try:
            async with asyncio.timeout(_LOCAL_SECONDS):
                return await self.look_up(host)
        except (ToolError, TimeoutError):
            # The call itself will say that there is no such name.
            return ()
