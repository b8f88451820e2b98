"""A request and what comes back, as plain data."""

import ssl
from collections.abc import Callable
from dataclasses import dataclass

from coder_tui.policy.addresses import IpAddress
from coder_tui.web.address import WebAddress

Headers = tuple[tuple[str, str], ...]
OnBytes = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Outgoing:
    method: str
    address: WebAddress
    headers: Headers = ()
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """How to get there: an address of the host, or a proxy that looks the name up itself."""

    addresses: tuple[IpAddress, ...]
    proxy: str
    context: ssl.SSLContext


@dataclass(frozen=True, slots=True)
class Body:
    data: bytes = b""
    is_cut: bool = False
    declared: int | None = None
    """The length that the server named, where that is comparable."""
