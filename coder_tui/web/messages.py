"""A request and what comes back, as plain data.

What a caller proves itself with, kept apart so that it goes to one origin only.
"""

import base64
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

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


class AuthType(StrEnum):
    BASIC = "basic"
    BEARER = "bearer"
    COOKIE = "cookie"


@dataclass(frozen=True, slots=True)
class Credentials:
    """The secrets stay out of the representation, and so out of logs."""

    type: AuthType
    user: str = ""
    secret: str = field(default="", repr=False)

    def header(self) -> tuple[str, str]:
        match self.type:
            case AuthType.BASIC:
                pair = f"{self.user}:{self.secret}".encode()
                return "Authorization", f"Basic {base64.b64encode(pair).decode('ascii')}"
            case AuthType.BEARER:
                return "Authorization", f"Bearer {self.secret}"
            case AuthType.COOKIE:
                return "Cookie", self.secret
