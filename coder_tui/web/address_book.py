"""Says where a name leads, and remembers the names that lead to no public place."""

import asyncio
import re
from collections.abc import Callable

from coder_tui.policy.addresses import IpAddress, Reach, literal_address, reach_of_host
from coder_tui.protocol.errors import ToolError
from coder_tui.web.resolve import Resolver

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
