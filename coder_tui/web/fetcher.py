"""Follows one request to its end: every hop looked up once, checked, pinned and bounded."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING

from coder_tui import __version__
from coder_tui.policy.addresses import IpAddress
from coder_tui.policy.rules import Effect
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.web.address import WebAddress
from coder_tui.web.address_book import AddressBook
from coder_tui.web.credentials import Credentials
from coder_tui.web.messages import Body, Outgoing, Route
from coder_tui.web.permit import Permit
from coder_tui.web.proxies import Proxies
from coder_tui.web.redirects import MOST_REDIRECTS, check_rules, is_redirect, redirected
from coder_tui.web.trust import Trust
from coder_tui.web.unpack import ACCEPTED

if TYPE_CHECKING:
    import httpx

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
