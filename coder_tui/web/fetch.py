"""Follows one request to its end: every hop looked up once, checked, pinned and bounded.

What becomes of a request when its answer sends it elsewhere.

What an approval covers: the addresses that were shown, not what a name or redirect leads to later.
"""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING

from coder_tui import __version__
from coder_tui.policy.addresses import IpAddress, Reach, literal_address, reach_of_host
from coder_tui.policy.rules import Effect
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.web.address import WebAddress
from coder_tui.web.body import ACCEPTED
from coder_tui.web.messages import Body, Credentials, Headers, Outgoing, Route
from coder_tui.web.resolve import AddressBook, ReachOf
from coder_tui.web.transport import Proxies, Trust

if TYPE_CHECKING:
    import httpx


MOST_REDIRECTS = 5
READING_METHODS = frozenset({"GET", "HEAD"})
_STATUSES = frozenset({301, 302, 303, 307, 308})
# All that another origin gets to see of what the caller put in: the rest may be a credential by any name.
_HARMLESS = re.compile(
    r"accept(-language)?|user-agent|content-type|range|if-[a-z-]+|cache-control", re.IGNORECASE
)
_OF_A_BODY = re.compile(r"content-.*", re.IGNORECASE)


def is_redirect(status: int, location: str | None) -> bool:
    return status in _STATUSES and bool(location)


def redirected(outgoing: Outgoing, status: int, location: str) -> Outgoing:
    """The request for the next hop; `ToolError` where it must not be made."""
    address = outgoing.address.join(location)
    becomes_get = (status == 303 and outgoing.method != "HEAD") or (
        status in (301, 302) and outgoing.method == "POST"
    )
    method, body, headers = outgoing.method, outgoing.body, outgoing.headers
    if becomes_get:
        method, body = "GET", None
        headers = tuple(pair for pair in headers if not _OF_A_BODY.fullmatch(pair[0]))
    if address.origin != outgoing.address.origin:
        if method not in READING_METHODS or body is not None:
            raise _not_followed(address, f"it would send {method} to another origin")
        headers = _harmless(headers)
    return Outgoing(method, address, headers, body)


def _harmless(headers: Headers) -> Headers:
    return tuple(pair for pair in headers if _HARMLESS.fullmatch(pair[0]))


def check_rules(first: Effect, hop: Effect, here: WebAddress, there: WebAddress) -> None:
    """A hop is decided on like a call: what a rule allowed must not lead to what nobody allowed."""
    if hop is Effect.DENY:
        raise _not_followed(there, "a rule denies it")
    if hop is Effect.ASK and first is Effect.ALLOW and _site(here) != _site(there):
        raise _not_followed(there, "no rule allows it")


def _site(address: WebAddress) -> tuple[str, int]:
    """Host and port; that of http and that of https are one, so that a site may lead to its secure self."""
    return address.host.removeprefix("www."), 443 if address.port == 80 else address.port


def _not_followed(address: WebAddress, reason: str) -> ToolError:
    return ToolError(
        ErrorType.PERMISSION_DENIED,
        f"permission denied: the redirect to {address.url} was not followed: {reason}",
        "If it is meant, fetch that address by itself, so that it is decided on.",
    )


_HINT = "Nothing was sent there. If it is meant, fetch it again, by itself: the approval then says where."


@dataclass(frozen=True, slots=True)
class Permit:
    """`addresses` are the ones that are not public but were approved."""

    addresses: frozenset[IpAddress] = frozenset()
    is_for_this_machine: bool = False
    """Whether `localhost` was approved by that name, whatever it resolves to here."""
    is_for_any: bool = False
    """For an address out of the person's own settings: wherever its name leads was chosen by them."""

    @classmethod
    def for_call(cls, address: WebAddress, shown: frozenset[IpAddress]) -> "Permit":
        literal = literal_address(address.host)
        own = frozenset({literal}) if literal is not None else frozenset()
        return cls(own | shown, literal is None and reach_of_host(address.host) is Reach.LOOPBACK)

    def check(self, address: WebAddress, found: tuple[IpAddress, ...], reach_of: ReachOf) -> "Permit":
        """Refuse what is not covered; return what the next hop may still reach."""
        by_name = reach_of_host(address.host)
        if by_name.is_forbidden:
            raise _refused(f"{address.host} is a {by_name} address", "")
        reaches = [reach_of(ip) for ip in found]
        for ip, reach in zip(found, reaches, strict=True):
            if reach.is_forbidden:
                raise _refused(f"{_leads(address, ip)}, a {reach} address", "")
            if not self._covers(ip, reach):
                raise _refused(f"{_leads(address, ip)}, a {reach} address that was not approved", _HINT)
        # A public server must not send us back to what was approved before it had a say.
        is_private = bool(reaches) and all(reach is not Reach.PUBLIC for reach in reaches)
        return self if is_private else Permit()

    def _covers(self, ip: IpAddress, reach: Reach) -> bool:
        if reach is Reach.PUBLIC or self.is_for_any or ip in self.addresses:
            return True
        return self.is_for_this_machine and reach is Reach.LOOPBACK


def _leads(address: WebAddress, ip: IpAddress) -> str:
    return str(ip) if str(ip) == address.host else f"{address.host} leads to {ip}"


def _refused(message: str, hint: str) -> ToolError:
    return ToolError(ErrorType.PERMISSION_DENIED, f"permission denied: {message}", hint)


Judge = Callable[[str], Effect]
"""What the rules say of reading a URL."""
_UNAUTHORIZED = 401
_STEP = 262_144


@dataclass(frozen=True, slots=True)
class Fetch:
    """A whole request; `seconds` bounds it from the first lookup to the last byte."""

    outgoing: Outgoing
    permit: Permit
    limit_for: Callable[[str], int]
    """How many bytes of a body to take, by its content type."""
    credentials: Credentials | None = None
    seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class Fetched:
    address: WebAddress
    status: int
    reason: str
    content_type: str
    body: Body
    is_unverified: bool
    """Whether some hop was to a host whose certificate is not checked."""


@dataclass(frozen=True, slots=True)
class Foresight:
    """What can be said of a request before it is made."""

    private: tuple[IpAddress, ...]
    proxy: str
    is_unverified: bool


class Fetcher:
    user_agent = f"coder-tui/{__version__}"

    def __init__(self, book: AddressBook, proxies: Proxies, trust: Trust, judge: Judge) -> None:
        self._book = book
        self._proxies = proxies
        self._trust = trust
        self._judge = judge

    async def fetch(self, fetch: Fetch, progress: Callable[[str], None]) -> Fetched:
        try:
            async with asyncio.timeout(fetch.seconds):
                return await _Journey(self, fetch, progress).run()
        except TimeoutError as error:
            message = f"{fetch.outgoing.address.origin} took longer than {fetch.seconds:g} s."
            raise ToolError(ErrorType.TIMEOUT, message, "Give a larger timeout_sec.") from error

    async def foresee(self, address: WebAddress) -> Foresight:
        proxy = self._proxies.for_address(address)
        private = () if proxy else await self._book.foretell(address.host)
        return Foresight(private, proxy, self.is_unverified(address))

    async def route(self, address: WebAddress, permit: Permit) -> tuple[Route, Permit]:
        """The way to `address`, and what may still be reached after it."""
        proxy = self._proxies.for_address(address)
        context = await self._trust.context_for(address.host)
        # A proxy looks names up by itself: of those only the host's own text can be checked.
        found = await self._book.look_up(address.host) if not proxy or address.is_literal else ()
        return Route(found, proxy, context), permit.check(address, found, self._book.reach_of)

    def is_unverified(self, address: WebAddress) -> bool:
        return address.scheme == "https" and self._trust.is_insecure(address.host)

    def judge(self, address: WebAddress) -> Effect:
        return self._judge(address.url)


class _Journey:
    """What changes from hop to hop."""

    def __init__(self, fetcher: Fetcher, fetch: Fetch, progress: Callable[[str], None]) -> None:
        self._fetcher = fetcher
        self._fetch = fetch
        self._progress = progress
        self._permit = fetch.permit
        self._outgoing = fetch.outgoing
        self._redirects = 0
        self._proves_itself = False
        self._is_unverified = False

    async def run(self) -> Fetched:
        while not isinstance(step := await self._hop(), Fetched):
            self._outgoing = step
        return step

    async def _hop(self) -> Fetched | Outgoing:
        """One exchange: the answer, or the request that it asks for."""
        # Importing the HTTP library takes a tenth of a second, and most sessions fetch nothing: it is
        # loaded when it is needed, and not on the loop.
        await asyncio.to_thread(import_module, "coder_tui.web.exchange")
        from coder_tui.web.exchange import exchange

        here = self._outgoing.address
        self._progress(f"{self._outgoing.method} {here.url}\n")
        route, self._permit = await self._fetcher.route(here, self._permit)
        self._is_unverified |= self._fetcher.is_unverified(here)
        async with exchange(self._with_credentials(), route) as response:
            if self._may_prove(response.status_code):
                self._proves_itself = True
                return self._outgoing
            location = response.headers.get("location")
            if location and is_redirect(response.status_code, location):
                return self._follow(response.status_code, location)
            return await self._read(response)

    def _may_prove(self, status: int) -> bool:
        return status == _UNAUTHORIZED and self._is_at_home and not self._proves_itself

    @property
    def _is_at_home(self) -> bool:
        """Whether this hop goes to the origin that the credentials are for."""
        origin = self._fetch.outgoing.address.origin
        return self._fetch.credentials is not None and self._outgoing.address.origin == origin

    def _with_credentials(self) -> Outgoing:
        headers = (*self._outgoing.headers, ("Accept-Encoding", ACCEPTED))
        if self._fetch.credentials is not None and self._proves_itself and self._is_at_home:
            name, value = self._fetch.credentials.header()
            headers = (*(pair for pair in headers if pair[0].lower() != name.lower()), (name, value))
        return replace(self._outgoing, headers=headers)

    def _follow(self, status: int, location: str) -> Outgoing:
        self._redirects += 1
        if self._redirects > MOST_REDIRECTS:
            raise ToolError(ErrorType.NETWORK_ERROR, f"It redirects more than {MOST_REDIRECTS} times.")
        following = redirected(self._outgoing, status, location)
        first, there = self._fetch.outgoing.address, following.address
        check_rules(self._fetcher.judge(first), self._fetcher.judge(there), first, there)
        return following

    async def _read(self, response: "httpx.Response") -> Fetched:
        content_type = response.headers.get("content-type", "")
        body = await self._body(response, content_type)
        return Fetched(
            self._outgoing.address,
            response.status_code,
            response.reason_phrase,
            content_type,
            body,
            self._is_unverified,
        )

    async def _body(self, response: "httpx.Response", content_type: str) -> Body:
        told = 0

        def on_bytes(count: int) -> None:
            nonlocal told
            if count - told >= _STEP:
                told = count
                self._progress(f"{count:,} bytes\n")

        from coder_tui.web.exchange import declared_length, read_body  # as above

        if self._outgoing.method == "HEAD":
            return Body(declared=declared_length(response))
        limit = self._fetch.limit_for(content_type)
        return await read_body(response, limit, self._outgoing.address, on_bytes)
