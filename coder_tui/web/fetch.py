"""Follows one request through its redirects: every hop is resolved once, checked, pinned and bounded.

An approval covers the addresses that were shown, not those that a name or redirect leads to later.
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
from coder_tui.web.transport import (
    AddressBook,
    Body,
    Credentials,
    Headers,
    Outgoing,
    Proxies,
    ReachOf,
    Route,
    Trust,
)

if TYPE_CHECKING:
    import httpx


MOST_REDIRECTS = 5
READING_METHODS = frozenset({"GET", "HEAD"})
_STATUSES = frozenset({301, 302, 303, 307, 308})
# The only headers of the caller that another origin gets: any other may be a credential.
_HARMLESS = re.compile(
    r"accept(-language)?|user-agent|content-type|range|if-[a-z-]+|cache-control", re.IGNORECASE
)
_OF_A_BODY = re.compile(r"content-.*", re.IGNORECASE)


def is_redirect(status: int, location: str | None) -> bool:
    return status in _STATUSES and bool(location)


def redirected(outgoing: Outgoing, status: int, location: str) -> Outgoing:
    """Return the request for the next hop; raise `ToolError` if it must not be made."""
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
    """Decide on a hop as on a call: an allowed address must not lead to one that nothing allows."""
    if hop is Effect.DENY:
        raise _not_followed(there, "a rule denies it")
    if hop is Effect.ASK and first is Effect.ALLOW and _site(here) != _site(there):
        raise _not_followed(there, "no rule allows it")


def _site(address: WebAddress) -> tuple[str, int]:
    """Return host and port; http and https are one, so that a site may redirect to its secure version."""
    return address.host.removeprefix("www."), 443 if address.port == 80 else address.port


def _not_followed(address: WebAddress, reason: str) -> ToolError:
    return ToolError(
        ErrorType.PERMISSION_DENIED,
        f"permission denied: the redirect to {address.url} was not followed: {reason}",
        "If this is intended, fetch that address directly, so that it can be approved.",
    )


_HINT = "Nothing was sent there. If this is intended, fetch it directly: the approval then shows the address."


@dataclass(frozen=True, slots=True)
class Permit:
    """`addresses` are the approved private addresses."""

    addresses: frozenset[IpAddress] = frozenset()
    is_for_this_machine: bool = False
    """Whether `localhost` was approved by that name, whatever it resolves to here."""
    is_for_any: bool = False
    """For an address from the user's settings: wherever its name leads, the user chose it."""

    @classmethod
    def for_call(cls, address: WebAddress, shown: frozenset[IpAddress]) -> "Permit":
        literal = literal_address(address.host)
        own = frozenset({literal}) if literal is not None else frozenset()
        return cls(own | shown, literal is None and reach_of_host(address.host) is Reach.LOOPBACK)

    def check(self, address: WebAddress, found: tuple[IpAddress, ...], reach_of: ReachOf) -> "Permit":
        """Raise for what is not covered; return what the next hop may still reach."""
        by_name = reach_of_host(address.host)
        if by_name.is_forbidden:
            raise _refused(f"{address.host} is a {by_name} address", "")
        reaches = [reach_of(ip) for ip in found]
        for ip, reach in zip(found, reaches, strict=True):
            if reach.is_forbidden:
                raise _refused(f"{_leads(address, ip)}, a {reach} address", "")
            if not self._covers(ip, reach):
                raise _refused(f"{_leads(address, ip)}, a {reach} address that was not approved", _HINT)
        # A public server must not redirect us to a private address that was approved before.
        is_private = bool(reaches) and all(reach is not Reach.PUBLIC for reach in reaches)
        return self if is_private else Permit()

    def _covers(self, ip: IpAddress, reach: Reach) -> bool:
        if reach is Reach.PUBLIC or self.is_for_any or ip in self.addresses:
            return True
        return self.is_for_this_machine and reach is Reach.LOOPBACK


def _leads(address: WebAddress, ip: IpAddress) -> str:
    return str(ip) if str(ip) == address.host else f"{address.host} resolves to {ip}"


def _refused(message: str, hint: str) -> ToolError:
    return ToolError(ErrorType.PERMISSION_DENIED, f"permission denied: {message}", hint)


Judge = Callable[[str], Effect]
"""Returns what the rules say about reading a URL."""
_UNAUTHORIZED = 401
_STEP = 262_144


@dataclass(frozen=True, slots=True)
class Fetch:
    """A complete request; `seconds` limits it from the first lookup to the last byte."""

    outgoing: Outgoing
    permit: Permit
    limit_for: Callable[[str], int]
    """How many bytes of a body to read, by its content type."""
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
    """Whether a hop went to a host whose certificate is not checked."""


@dataclass(frozen=True, slots=True)
class FetchPreview:
    """What is known about a request before it is made."""

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
                return await _FetchRun(self, fetch, progress).run()
        except TimeoutError as error:
            message = f"{fetch.outgoing.address.origin} took longer than {fetch.seconds:g} s."
            raise ToolError(ErrorType.TIMEOUT, message, "Use a larger timeout_sec.") from error

    async def preview(self, address: WebAddress) -> FetchPreview:
        proxy = self._proxies.for_address(address)
        private = () if proxy else await self._book.private_addresses_of(address.host)
        return FetchPreview(private, proxy, self.is_unverified(address))

    async def route(self, address: WebAddress, permit: Permit) -> tuple[Route, Permit]:
        """Return the route to `address`, and what the next hop may still reach."""
        proxy = self._proxies.for_address(address)
        context = await self._trust.context_for(address.host)
        # A proxy resolves names itself, so only the host's text can be checked.
        found = await self._book.look_up(address.host) if not proxy or address.is_literal else ()
        return Route(found, proxy, context), permit.check(address, found, self._book.reach_of)

    def is_unverified(self, address: WebAddress) -> bool:
        return address.scheme == "https" and self._trust.is_insecure(address.host)

    def judge(self, address: WebAddress) -> Effect:
        return self._judge(address.url)


class _FetchRun:
    """One fetch: the state that changes from hop to hop."""

    def __init__(self, fetcher: Fetcher, fetch: Fetch, progress: Callable[[str], None]) -> None:
        self._fetcher = fetcher
        self._fetch = fetch
        self._progress = progress
        self._permit = fetch.permit
        self._outgoing = fetch.outgoing
        self._redirects = 0
        self._sends_credentials = False
        self._is_unverified = False

    async def run(self) -> Fetched:
        while not isinstance(step := await self._hop(), Fetched):
            self._outgoing = step
        return step

    async def _hop(self) -> Fetched | Outgoing:
        """Make one request; return the answer, or the next request."""
        # Importing the HTTP library takes a tenth of a second, and most sessions fetch nothing: it is
        # loaded when needed, and not on the event loop.
        await asyncio.to_thread(import_module, "coder_tui.web.exchange")
        from coder_tui.web.exchange import exchange

        here = self._outgoing.address
        self._progress(f"{self._outgoing.method} {here.url}\n")
        route, self._permit = await self._fetcher.route(here, self._permit)
        self._is_unverified |= self._fetcher.is_unverified(here)
        async with exchange(self._with_credentials(), route) as response:
            if self._may_send_credentials(response.status_code):
                self._sends_credentials = True
                return self._outgoing
            location = response.headers.get("location")
            if location and is_redirect(response.status_code, location):
                return self._follow(response.status_code, location)
            return await self._read(response)

    def _may_send_credentials(self, status: int) -> bool:
        return status == _UNAUTHORIZED and self._is_at_home and not self._sends_credentials

    @property
    def _is_at_home(self) -> bool:
        """Whether this hop goes to the origin that the credentials are for."""
        origin = self._fetch.outgoing.address.origin
        return self._fetch.credentials is not None and self._outgoing.address.origin == origin

    def _with_credentials(self) -> Outgoing:
        headers = (*self._outgoing.headers, ("Accept-Encoding", ACCEPTED))
        if self._fetch.credentials is not None and self._sends_credentials and self._is_at_home:
            name, value = self._fetch.credentials.header()
            headers = (*(pair for pair in headers if pair[0].lower() != name.lower()), (name, value))
        return replace(self._outgoing, headers=headers)

    def _follow(self, status: int, location: str) -> Outgoing:
        self._redirects += 1
        if self._redirects > MOST_REDIRECTS:
            raise ToolError(
                ErrorType.NETWORK_ERROR, f"The server redirects more than {MOST_REDIRECTS} times."
            )
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
        reported = 0

        def on_bytes(count: int) -> None:
            nonlocal reported
            if count - reported >= _STEP:
                reported = count
                self._progress(f"{count:,} bytes\n")

        from coder_tui.web.exchange import declared_length, read_body  # as above

        if self._outgoing.method == "HEAD":
            return Body(declared=declared_length(response))
        limit = self._fetch.limit_for(content_type)
        return await read_body(response, limit, self._outgoing.address, on_bytes)
