"""A request and its answer as plain data, the proxy it goes through, and which certificates are trusted.

Names are resolved in separate threads: a lookup cannot be cancelled, so it must not occupy a thread of
the program's pool. Names that resolve to private addresses are remembered.
"""

import asyncio
import base64
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from ipaddress import ip_address, ip_network
from pathlib import Path
from urllib.parse import urlsplit

from coder_tui.policy.addresses import IpAddress, Reach, literal_address, reach_of_host
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tasks import in_daemon_thread
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
    """How to reach the host: by one of its addresses, or through a proxy that resolves the name itself."""

    addresses: tuple[IpAddress, ...]
    proxy: str
    context: ssl.SSLContext


@dataclass(frozen=True, slots=True)
class Body:
    data: bytes = b""
    is_cut: bool = False
    declared: int | None = None
    """The length that the server declared, if it is comparable."""


class AuthType(StrEnum):
    BASIC = "basic"
    BEARER = "bearer"
    COOKIE = "cookie"


@dataclass(frozen=True, slots=True)
class Credentials:
    """Credentials; the secret is not in the repr, so it stays out of logs."""

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


_SCHEMES = ("http", "https")


@dataclass(frozen=True, slots=True)
class Proxies:
    """`setting` wins over the environment; local requests never use a proxy."""

    setting: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)

    def for_address(self, address: WebAddress) -> str:
        """Return the proxy's URL, or "" for a direct connection."""
        if reach_of_host(address.host) is Reach.LOOPBACK or self._is_exempt(address):
            return ""
        proxy = self.setting or self._variable(f"{address.scheme}_proxy") or self._variable("all_proxy")
        if not proxy:
            return ""
        return _checked(proxy if "://" in proxy else f"http://{proxy}")

    def _variable(self, name: str) -> str:
        if name == "http_proxy" and "REQUEST_METHOD" in self.environ:
            # In a CGI program HTTP_PROXY comes from a client's header.
            return self.environ.get(name, "")
        return self.environ.get(name) or self.environ.get(name.upper()) or ""

    def _is_exempt(self, address: WebAddress) -> bool:
        exempt = self._variable("no_proxy").replace(" ", ",").split(",")
        return any(_exempts(entry.lower(), address) for entry in exempt if entry)


def _exempts(entry: str, address: WebAddress) -> bool:
    literal = literal_address(address.host)
    if entry == "*" or entry in (address.host, f"{address.host}:{address.port}"):
        return True
    if literal is not None:
        return _is_in(literal, entry)
    host, _, port = entry.removeprefix("*").partition(":")
    if port and port != str(address.port):
        return False
    return address.host == host.lstrip(".") or address.host.endswith(f".{host.lstrip('.')}")


def _is_in(literal: IpAddress, entry: str) -> bool:
    try:
        return literal in ip_network(entry, strict=False)
    except ValueError:
        return False


def _checked(proxy: str) -> str:
    try:
        parts = urlsplit(proxy)
        is_usable = parts.scheme in _SCHEMES and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise ToolError(
            ErrorType.NETWORK_ERROR,
            "The configured proxy cannot be used: only http:// and https:// proxies are supported.",
            "Check the setting fetch.proxy and the variables HTTPS_PROXY, HTTP_PROXY and ALL_PROXY.",
        )
    return proxy


def shown_proxy(proxy: str) -> str:
    """Return the proxy's URL without credentials."""
    parts = urlsplit(proxy)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}"


_FILE_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_FOLDER_VARIABLE = "SSL_CERT_DIR"


class Trust:
    """Builds TLS contexts. `insecure_hosts`, from the user's settings only, are not verified."""

    def __init__(self, ca_bundle: str, insecure_hosts: frozenset[str], environ: Mapping[str, str]) -> None:
        self._ca_bundle = ca_bundle
        self._insecure = frozenset(host.lower() for host in insecure_hosts)
        self._environ = environ
        self._checking: ssl.SSLContext | None = None

    def is_insecure(self, host: str) -> bool:
        return host in self._insecure

    async def context_for(self, host: str) -> ssl.SSLContext:
        if self.is_insecure(host):
            return _unchecked()
        if self._checking is None:
            # In a thread, because loading the authorities takes a while.
            self._checking = await asyncio.to_thread(self._checked)
        return self._checking

    def _checked(self) -> ssl.SSLContext:
        import httpx  # only when needed: it takes a tenth of a second

        context = httpx.create_ssl_context(trust_env=False)
        context.load_default_certs()
        for name in _FILE_VARIABLES:
            if path := self._environ.get(name):
                _add(context, path, f"Check the variable {name}.")
        if folder := self._environ.get(_FOLDER_VARIABLE):
            context.load_verify_locations(capath=folder)
        if self._ca_bundle:
            path = str(Path(self._ca_bundle).expanduser())
            _add(context, path, "Check the setting fetch.ca_bundle.")
        return context


def _add(context: ssl.SSLContext, path: str, hint: str) -> None:
    try:
        if Path(path).is_dir():
            context.load_verify_locations(capath=path)
        else:
            context.load_verify_locations(cafile=path)
    except (OSError, ssl.SSLError) as error:
        message = f"The certificates in {path} cannot be read: {error.strerror or error}."
        raise ToolError(ErrorType.NETWORK_ERROR, message, hint) from error


def _unchecked() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


Resolver = Callable[[str], Awaitable[tuple[IpAddress, ...]]]
"""Returns all addresses of a name; raises `ToolError` if there are none."""


async def system_resolver(host: str) -> tuple[IpAddress, ...]:
    """Resolve a name as every program on this machine does, including `/etc/hosts`."""
    # The program can exit while a name server is silent.
    return await in_daemon_thread(partial(_look_up, host), "name lookup")


def _look_up(host: str) -> tuple[IpAddress, ...]:
    try:
        answers = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a valid name"
        raise ToolError(ErrorType.NETWORK_ERROR, f"The host {host} was not found: {reason}.") from error
    return tuple(dict.fromkeys(ip_address(str(answer[4][0])) for answer in answers))


ReachOf = Callable[[IpAddress], Reach]
# Names that only servers of this network resolve: looking them up reveals nothing outside.
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
        """Resolve `host` again, and return every address."""
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

    async def private_addresses_of(self, host: str) -> tuple[IpAddress, ...]:
        """Return the private addresses of `host`, as far as they can be known before an approval.

        A public name is not looked up: the query alone would carry the name, and any data put into it, to the
        owner of its domain. If such a name turned out to be private, that is remembered.
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
            # The call itself will report that the name does not exist.
            return ()
