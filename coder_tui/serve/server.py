"""The web server of `coder-tui serve`: a page, its files, and a WebSocket for each tab.

`Gate` decides who may connect: only browsers that know the token and use the served address.
"""

import asyncio
import hmac
import ipaddress
import secrets
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

import textual_serve
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from coder_tui.serve.tab import Tab, parse_size
from coder_tui.tasks import BackgroundTasks

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
EVERYWHERE = frozenset({"0.0.0.0", "::", ""})
TOKEN_BYTES = 24


def new_token() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


def is_loopback(host: str) -> bool:
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Gate:
    """`folder` is a path that cannot be guessed, with slashes at both ends.

    A browser sends a cookie to every port of a host. Because the cookie is bound to that path, no other
    program's page on this machine receives it.
    """

    token: str
    host: str
    folder: str = field(default_factory=lambda: f"/{secrets.token_urlsafe(9)}/")

    @property
    def cookie(self) -> str:
        return f"coder-tui-{self.folder.strip('/')}"

    def knows(self, given: str | None) -> bool:
        """Return whether the token is right. Constant time, so that timing reveals nothing about it."""
        return given is not None and hmac.compare_digest(given.encode(), self.token.encode())

    def serves(self, host_header: str | None) -> bool:
        """Return whether a request was meant for this server, and not for a foreign name that points here."""
        name = _name(host_header)
        if name is None:
            return False
        if self.host in EVERYWHERE:
            return name in LOOPBACK or name == socket.gethostname().lower() or _address(name) is not None
        return name == self.host.lower() or (is_loopback(self.host) and name in LOOPBACK)

    def is_own_page(self, origin: str | None, host_header: str | None) -> bool:
        """Return whether a page of this server makes the request. Browsers always send the origin."""
        if origin is None or host_header is None:
            return False
        parts = urlsplit(origin)
        return parts.scheme in {"http", "https"} and parts.netloc.lower() == host_header.lower()


def _name(host_header: str | None) -> str | None:
    """Return the host without its port and without the brackets of an IPv6 address."""
    if not host_header:
        return None
    try:
        return urlsplit(f"//{host_header}").hostname
    except ValueError:
        return None


MOST_TABS = 16
LONGEST_MESSAGE = 4 * 1024 * 1024
HEARTBEAT = 15.0
"""Seconds. A browser that vanished is noticed after one and a half heartbeats."""
COME_BY_THE_ADDRESS = "Open the address that 'coder-tui serve' printed. It contains the access token.\n"
# The files of the page by name. Nothing else is served.
_THIRD_PARTY = {
    "textual.js": ("js/textual.js", "text/javascript"),
    "xterm.css": ("css/xterm.css", "text/css"),
    "mono.ttf": ("fonts/RobotoMono-VariableFont_wght.ttf", "font/ttf"),
    "mono-italic.ttf": ("fonts/RobotoMono-Italic-VariableFont_wght.ttf", "font/ttf"),
}
_OURS = {"page.css": "text/css", "page.js": "text/javascript"}


@dataclass(frozen=True, slots=True)
class TabServer:
    """Serves tabs. Each runs `command`, which starts the screen."""

    command: Sequence[str]
    environ: Mapping[str, str]
    gate: Gate
    tabs: BackgroundTasks = field(default_factory=BackgroundTasks)

    def app(self) -> web.Application:
        app = web.Application(middlewares=[self._guarded()])
        folder = self.gate.folder
        app.add_routes(
            [
                web.get("/", self._enter),
                web.get(folder, self._page),
                web.get(f"{folder}ws", self._tab),
                web.get(f"{folder}{{name}}", self._file),
            ]
        )
        app.on_shutdown.append(self._end_tabs)
        return app

    def _guarded(self) -> Middleware:
        @web.middleware
        async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
            host = request.headers.get("Host")
            if not self.gate.serves(host):
                raise web.HTTPForbidden(
                    text="Unknown host name. Open the address that 'coder-tui serve' printed.\n",
                    headers=_HEADERS,
                )
            is_entering = request.path == "/"
            if not is_entering and not self.gate.knows(request.cookies.get(self.gate.cookie)):
                raise web.HTTPForbidden(text=COME_BY_THE_ADDRESS, headers=_HEADERS)
            response = await handler(request)
            if not response.prepared:
                response.headers.update(_headers(host or ""))
            return response

        return guarded

    async def _enter(self, request: web.Request) -> web.StreamResponse:
        """Turn the token in the address into a cookie, once."""
        if not self.gate.knows(request.query.get("token")):
            raise web.HTTPForbidden(text=COME_BY_THE_ADDRESS, headers=_HEADERS)
        response = web.Response(status=303, headers={"Location": self.gate.folder})
        response.set_cookie(
            self.gate.cookie, self.gate.token, path=self.gate.folder, httponly=True, samesite="Strict"
        )
        return response

    async def _page(self, request: web.Request) -> web.StreamResponse:
        page = await asyncio.to_thread(_own, "page.html")
        return web.Response(body=page, content_type="text/html", charset="utf-8")

    async def _file(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        if name in _OURS:
            return web.Response(body=await asyncio.to_thread(_own, name), content_type=_OURS[name])
        if name not in _THIRD_PARTY:
            raise web.HTTPNotFound(headers=_HEADERS)
        place, kind = _THIRD_PARTY[name]
        path = Path(textual_serve.__file__).with_name("static") / place
        return web.Response(body=await asyncio.to_thread(path.read_bytes), content_type=kind)

    async def _tab(self, request: web.Request) -> web.StreamResponse:
        if not self.gate.is_own_page(request.headers.get("Origin"), request.headers.get("Host")):
            raise web.HTTPForbidden(text="Only this server's own page may open a screen.\n", headers=_HEADERS)
        if len(self.tabs) >= MOST_TABS:
            raise web.HTTPServiceUnavailable(
                text=f"{MOST_TABS} tabs are already open. Close one and reload this page.\n", headers=_HEADERS
            )
        socket = web.WebSocketResponse(heartbeat=HEARTBEAT, max_msg_size=LONGEST_MESSAGE)
        await socket.prepare(request)
        size = parse_size(request.query.get("width"), request.query.get("height"))
        await asyncio.shield(self.tabs.start(Tab(self.command, self.environ, socket).serve(size)))
        return socket

    async def _end_tabs(self, app: web.Application) -> None:
        await self.tabs.close()


def _own(name: str) -> bytes:
    return files("coder_tui.serve").joinpath(name).read_bytes()


_HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def _headers(host: str) -> dict[str, str]:
    """Return headers that forbid loading anything from other servers."""
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        f"font-src 'self'; connect-src 'self' ws://{host} wss://{host}; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    return {**_HEADERS, "Content-Security-Policy": policy}


async def listen(served: TabServer, host: str, port: int) -> tuple[web.AppRunner, int]:
    """Serve until the runner is cleaned up. Returns the port; for 0, the system chooses one."""
    runner = web.AppRunner(served.app(), access_log=None, handle_signals=False)
    await runner.setup()
    site = web.TCPSite(runner, host, port)
    await site.start()
    addresses = runner.addresses
    return runner, int(addresses[0][1])
