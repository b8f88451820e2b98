"""The web server of `coder-tui serve`: a page, its files, and a socket for each tab."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

import textual_serve
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from coder_tui.serve.gate import Gate
from coder_tui.serve.tab import Tab, size_of

MOST_TABS = 16
LONGEST_MESSAGE = 4 * 1024 * 1024
HEARTBEAT = 15.0
"""Seconds; a browser that vanished is noticed after one and a half of them."""
COME_BY_THE_ADDRESS = "Open the address that 'coder-tui serve' printed: it holds the token.\n"
# What the page is made of, by the name that it asks for. Nothing else is there.
_THIRD_PARTY = {
    "textual.js": ("js/textual.js", "text/javascript"),
    "xterm.css": ("css/xterm.css", "text/css"),
    "mono.ttf": ("fonts/RobotoMono-VariableFont_wght.ttf", "font/ttf"),
    "mono-italic.ttf": ("fonts/RobotoMono-Italic-VariableFont_wght.ttf", "font/ttf"),
}
_OURS = {"page.css": "text/css", "page.js": "text/javascript"}


@dataclass(frozen=True, slots=True)
class Served:
    """`command` starts the screen; each tab runs one."""

    command: Sequence[str]
    environ: Mapping[str, str]
    gate: Gate
    tabs: set["asyncio.Task[None]"] = field(default_factory=set)

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
                raise web.HTTPForbidden(text="This server is not known by that name.\n", headers=_HEADERS)
            is_entering = request.path == "/"
            if not is_entering and not self.gate.knows(request.cookies.get(self.gate.cookie)):
                raise web.HTTPForbidden(text=COME_BY_THE_ADDRESS, headers=_HEADERS)
            response = await handler(request)
            if not response.prepared:
                response.headers.update(_headers(host or ""))
            return response

        return guarded

    async def _enter(self, request: web.Request) -> web.StreamResponse:
        """The token in the address is taken once and put away as a cookie."""
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
            raise web.HTTPServiceUnavailable(text=f"{MOST_TABS} tabs are open already.\n", headers=_HEADERS)
        socket = web.WebSocketResponse(heartbeat=HEARTBEAT, max_msg_size=LONGEST_MESSAGE)
        await socket.prepare(request)
        size = size_of(request.query.get("width"), request.query.get("height"))
        running = asyncio.create_task(Tab(self.command, self.environ, socket).run(size))
        self.tabs.add(running)
        running.add_done_callback(self.tabs.discard)
        await asyncio.shield(running)
        return socket

    async def _end_tabs(self, app: web.Application) -> None:
        for running in self.tabs:
            running.cancel()
        if self.tabs:
            await asyncio.wait(self.tabs)


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
    """Nothing is loaded from elsewhere, whatever a library or an address asks for."""
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        f"font-src 'self'; connect-src 'self' ws://{host} wss://{host}; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    return {**_HEADERS, "Content-Security-Policy": policy}


async def listen(served: Served, host: str, port: int) -> tuple[web.AppRunner, int]:
    """Serve until the runner is cleaned up; returns the port, which the system chooses for 0."""
    runner = web.AppRunner(served.app(), access_log=None, handle_signals=False)
    await runner.setup()
    site = web.TCPSite(runner, host, port)
    await site.start()
    addresses = runner.addresses
    return runner, int(addresses[0][1])
