"""Where a server may send us: the places it names for a login are a stranger's word.

They must not lead to this machine or this network, nor be spoken to in the clear, unless the server itself
is there. That a name leads elsewhere by the time it is spoken to does no harm: whoever is there instead has
no certificate for it.
"""

from urllib.parse import urlsplit

from coder_tui.policy.addresses import Reach, literal_address, plain_host, reach_of_address, reach_of_host
from coder_tui.protocol.errors import ToolError
from coder_tui.web.resolve import Resolver, system_resolver

_ORDER = tuple(Reach)


class RefusedPlaceError(RuntimeError):
    """The sentence says where the server would have sent us, and why we do not go."""


class Abroad:
    """`home` is the server's own address, which the person or a project they trust wrote down."""

    def __init__(self, home: str, resolver: Resolver = system_resolver) -> None:
        self._scheme, self._host = _parts(home)
        self._resolver = resolver

    def check_link(self, url: str) -> None:
        """For an address that a person is to open: they see the host, so only the way there is checked."""
        scheme, host = _parts(url)
        is_home = host == self._host and scheme in {"https", self._scheme}
        if not host or not (scheme == "https" or (is_home and scheme == "http")):
            raise RefusedPlaceError(f"it sends us to {_shown(scheme, host)}, which is not https")

    async def check(self, url: str) -> None:
        """`RefusedPlaceError` where a request must not go."""
        self.check_link(url)
        _, host = _parts(url)
        if host == self._host:
            return
        reach = await self._reach(host)
        if reach is Reach.PUBLIC:
            return
        here = await self._reach(self._host)
        # A company's server has its logins in the company's network.
        if reach.is_forbidden or here is Reach.PUBLIC or (reach is Reach.LOOPBACK and here is not reach):
            raise RefusedPlaceError(f"it sends us to {host}, which is a {reach} address")

    async def _reach(self, host: str) -> Reach:
        """The strictest of all that a name leads to; one that is not found here a proxy may know."""
        by_name = reach_of_host(host)
        if by_name is not Reach.PUBLIC or literal_address(host) is not None:
            return by_name
        try:
            found = await self._resolver(host)
        except ToolError:
            return by_name
        return max((by_name, *map(reach_of_address, found)), key=_ORDER.index)


def _parts(url: str) -> tuple[str, str]:
    try:
        read = urlsplit(url)
        return read.scheme.lower(), plain_host(read.hostname or "")
    except ValueError:
        return "", ""


def _shown(scheme: str, host: str) -> str:
    return f"{scheme[:20]}://{host[:200]}" if host else "an address that cannot be read"
