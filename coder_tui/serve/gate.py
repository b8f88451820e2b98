"""Who may come in: those who know the token, and only by the address that was served."""

import hmac
import ipaddress
import secrets
import socket
from dataclasses import dataclass, field
from urllib.parse import urlsplit

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
EVERYWHERE = frozenset({"0.0.0.0", "::", ""})
TOKEN_BYTES = 24


def new_token() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Gate:
    """`folder` is a path that nobody guesses, with slashes at both ends.

    A browser sends a cookie to every port of a host. Bound to that path, another program's page on this
    machine never gets it.
    """

    token: str
    host: str
    folder: str = field(default_factory=lambda: f"/{secrets.token_urlsafe(9)}/")

    @property
    def cookie(self) -> str:
        return f"coder-tui-{self.folder.strip('/')}"

    def knows(self, given: str | None) -> bool:
        """Compared in constant time: how long a refusal takes must not tell how much was right."""
        return given is not None and hmac.compare_digest(given.encode(), self.token.encode())

    def serves(self, host_header: str | None) -> bool:
        """Whether a request was meant for this server; a name that somebody let point here is not ours."""
        name = _name(host_header)
        if name is None:
            return False
        if self.host in EVERYWHERE:
            return name in LOOPBACK or name == socket.gethostname().lower() or _is_address(name)
        return name == self.host.lower() or (is_loopback(self.host) and name in LOOPBACK)

    def is_own_page(self, origin: str | None, host_header: str | None) -> bool:
        """Whether a page of this very server asks; a browser always says whose page it is."""
        if origin is None or host_header is None:
            return False
        parts = urlsplit(origin)
        return parts.scheme in {"http", "https"} and parts.netloc.lower() == host_header.lower()


def _name(host_header: str | None) -> str | None:
    """The host without its port, and without the brackets of an address."""
    if not host_header:
        return None
    try:
        return urlsplit(f"//{host_header}").hostname
    except ValueError:
        return None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
