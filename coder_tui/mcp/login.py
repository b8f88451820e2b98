"""The user's login in a browser, its tokens in a private file, and the check of where a server sends us.

The addresses that a server names for a login are untrusted. They must use https and must not lead to this
machine or network, unless the server itself is there. If a name resolves differently later, no harm is done:
the other host has no certificate for it.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from coder_tui.config.own_files import write_private
from coder_tui.policy.addresses import Reach, literal_address, plain_host, reach_of_address, reach_of_host
from coder_tui.protocol.errors import ToolError
from coder_tui.shell.hosts.link import JsonObject
from coder_tui.web.transport import Resolver, system_resolver

_HOST = "127.0.0.1"
_PATH = "/callback"
_PATIENCE = 300.0
_LONGEST = 65_536
_PAGE = (
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
    "Done. You can close this page and go back to coder-tui.\n"
)
_NOT_HERE = "HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n"
Returned = tuple[str, str | None, str | None]


class LoginNeededError(Exception):
    """The server needs a login that only the user can do; `link` is where, once known."""

    def __init__(self, link: str = "") -> None:
        super().__init__("it needs a login")
        self.link = link


class Login:
    """One attempt to reach a server; `show` gets the login link if the user asked for a login."""

    def __init__(self, show: Callable[[str], None] | None = None) -> None:
        self._show = show
        self._back: asyncio.Future[Returned] | None = None
        self.address = f"http://{_HOST}:0{_PATH}"
        self.link = ""
        self.is_needed = False
        self.last_status = 0
        """The status of the server's last HTTP answer."""
        self.patience = _PATIENCE if show else 0.0
        """Seconds that the user may take; 0 if no login was asked for."""

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Listen for the browser's answer, if the user asked for a login."""
        if self._show is None:
            yield
            return
        self._back = asyncio.get_running_loop().create_future()
        server = await asyncio.start_server(self._serve, _HOST, 0, limit=_LONGEST)
        port = server.sockets[0].getsockname()[1]
        self.address = f"http://{_HOST}:{port}{_PATH}"
        async with server:
            yield

    async def sent_to(self, link: str) -> None:
        """Show the link that the server sent; raise if the user did not ask for a login."""
        self.link, self.is_needed = link, True
        if self._show is None:
            raise LoginNeededError(link)
        self._show(link)

    async def returned(self) -> Returned:
        """Wait for the code, state and issuer from the browser."""
        if self._back is None:
            raise LoginNeededError(self.link)
        try:
            async with asyncio.timeout(self.patience):
                return await self._back
        except TimeoutError as error:
            raise LoginNeededError(self.link) from error

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ValueError):
            words = (await reader.readline()).decode("latin-1").split()
            address = urlsplit(words[1] if len(words) > 1 else "")
            given = {key: values[0] for key, values in parse_qs(address.query).items()}
            is_answer = address.path == _PATH and ("code" in given or "error" in given)
            writer.write((_PAGE if is_answer else _NOT_HERE).encode())
            await writer.drain()
            if is_answer and self._back is not None and not self._back.done():
                if "code" in given:
                    self._back.set_result((given["code"], given.get("state"), given.get("iss")))
                else:
                    self._back.set_exception(LoginNeededError(self.link))
        writer.close()


class TokenFile:
    """`url` is the server's: tokens for one address are never sent to another."""

    def __init__(self, path: Path, url: str) -> None:
        self._path = path
        self._url = url

    def get(self, key: str) -> JsonObject | None:
        stored = self._all().get(key)
        return stored if isinstance(stored, dict) else None

    def put(self, key: str, value: JsonObject) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = json.dumps({**self._all(), "url": self._url, key: value})
        write_private(self._path, text.encode())

    def _all(self) -> JsonObject:
        try:
            stored = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return stored if isinstance(stored, dict) and stored.get("url") == self._url else {}


_ORDER = tuple(Reach)


class RefusedRedirectError(RuntimeError):
    """Says where the server tried to send us, and why we do not go there."""


class RedirectGuard:
    """`home` is the server's own address, from the user or a trusted project."""

    def __init__(self, home: str, resolver: Resolver = system_resolver) -> None:
        self._scheme, self._host = _parts(home)
        self._resolver = resolver

    def check_link(self, url: str) -> None:
        """Check an address that the user will open: they see the host, so only https is checked."""
        scheme, host = _parts(url)
        is_home = host == self._host and scheme in {"https", self._scheme}
        if not host or not (scheme == "https" or (is_home and scheme == "http")):
            raise RefusedRedirectError(f"it redirects to {_shown(scheme, host)}, which is not https")

    async def check(self, url: str) -> None:
        """Raise `RefusedRedirectError` if a request must not go there."""
        self.check_link(url)
        _, host = _parts(url)
        if host == self._host:
            return
        reach = await self._reach(host)
        if reach is Reach.PUBLIC:
            return
        here = await self._reach(self._host)
        # A company's server has its login inside the company's network.
        if reach.is_forbidden or here is Reach.PUBLIC or (reach is Reach.LOOPBACK and here is not reach):
            raise RefusedRedirectError(f"it redirects to {host}, which is a {reach} address")

    async def _reach(self, host: str) -> Reach:
        """Return the strictest reach of a name's addresses; a proxy may know names that we cannot resolve."""
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
