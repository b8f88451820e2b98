"""Real servers on loopback, and a `fetch` around names that tests make up.

127.0.0.2 stands for the open net: the world outside is given to the tool, its rules stay as they are.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from ipaddress import ip_address
from pathlib import Path

from coder_tui.policy.addresses import IpAddress, Reach, reach_of_address
from coder_tui.policy.rules import Effect
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access, JsonObject, ToolContext, ToolResult
from coder_tui.tools.builtin.fetch import FetchTool
from coder_tui.web.fetch import Judge
from coder_tui.web.web import WebSettings, open_web

HERE = "127.0.0.1"
OUTSIDE = "127.0.0.2"


@dataclass(frozen=True, slots=True)
class Received:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """`length` is what the server claims; `rest` goes on writing after the body."""

    body: bytes = b""
    kind: str = "text/plain"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    rest: Callable[[asyncio.StreamWriter], Awaitable[None]] | None = None


Responder = Callable[[Received], Answer]


def redirect(location: str, status: int = 302) -> Answer:
    return Answer(status=status, headers={"Location": location})


class Loopback:
    """Answers by path; `seen` are the requests in order, `left` is set when a client goes before the end."""

    def __init__(self, routes: Mapping[str, Answer | Responder], *, scheme: str = "http") -> None:
        self.routes = dict(routes)
        self.seen: list[Received] = []
        self.reached = asyncio.Event()
        self.left = asyncio.Event()
        self.port = 0
        self._scheme = scheme

    def url(self, path: str = "/", host: str = HERE) -> str:
        return f"{self._scheme}://{host}:{self.port}{path}"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            received = await _receive(reader)
            self.seen.append(received)
            self.reached.set()
            await self._answer(received, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.left.set()
        finally:
            writer.close()

    async def _answer(self, received: Received, writer: asyncio.StreamWriter) -> None:
        route = self.routes.get(received.path.partition("?")[0], Answer(b"nothing here", status=404))
        answer = route if isinstance(route, Answer) else route(received)
        headers = {"Content-Type": answer.kind, "Connection": "close", **answer.headers}
        if answer.rest is None:
            headers.setdefault("Content-Length", str(len(answer.body)))
        lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}"]
        lines += [f"{name}: {value}" for name, value in headers.items() if value]
        writer.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")
        if received.method != "HEAD":
            writer.write(answer.body)
        await writer.drain()
        if answer.rest is not None:
            await answer.rest(writer)


async def _receive(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    return Received(method, path, headers, await reader.readexactly(int(headers.get("content-length", "0"))))


@asynccontextmanager
async def serving(
    routes: Mapping[str, Answer | Responder], host: str = HERE, context: ssl.SSLContext | None = None
) -> AsyncIterator[Loopback]:
    server = Loopback(routes, scheme="https" if context else "http")
    listening = await asyncio.start_server(server.handle, host, 0, ssl=context)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()


class Names:
    """A name server whose answers may change: each lookup takes the next, the last one stays."""

    def __init__(self, answers: Mapping[str, Sequence[str]]) -> None:
        self._answers = {name: list(given) for name, given in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str) -> tuple[IpAddress, ...]:
        self.asked.append(host)
        given = self._answers.get(host)
        if not given:
            raise ToolError(ErrorType.NETWORK_ERROR, f"The name {host} was not found.")
        answer = given.pop(0) if len(given) > 1 else given[0]
        return tuple(ip_address(part) for part in answer.split())


def reach_of(address: IpAddress) -> Reach:
    return Reach.PUBLIC if str(address) == OUTSIDE else reach_of_address(address)


def ask_for_all(url: str) -> Effect:
    return Effect.ASK


class Fetching:
    """The tool, called as the runner does once the user has said yes."""

    def __init__(
        self, names: Names | None = None, settings: WebSettings | None = None, judge: Judge = ask_for_all
    ) -> None:
        self.names = names or Names({"outside.example": [OUTSIDE], "localhost": [HERE]})
        self.web = open_web(settings or WebSettings(), judge, self.names, reach_of)
        self.tool = FetchTool(self.web.fetcher)
        self.progress: list[str] = []
        self.sees_images = False

    async def access(self, **arguments: object) -> Access:
        return await self.tool.access(self.tool.params.model_validate(arguments), self._context())

    async def result(self, **arguments: object) -> ToolResult:
        access = await self.access(**arguments)
        context = replace(self._context(access), sees_images=self.sees_images)
        return await self.tool.run(self.tool.params.model_validate(arguments), context)

    async def call(self, **arguments: object) -> JsonObject:
        return (await self.result(**arguments)).for_model

    async def failure(self, **arguments: object) -> ToolError:
        try:
            result = await self.call(**arguments)
        except ToolError as error:
            return error
        raise AssertionError(f"it did not fail: {result}")

    def _context(self, access: Access | None = None) -> ToolContext:
        return ToolContext("session", "call", Path("/"), progress=self.progress.append, access=access)
