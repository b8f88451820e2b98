"""The HTTP half of the scripted model servers: a loopback server in its own thread that records what it sees.

It runs independently of any event loop: `with server:` and `async with server:` both work.
"""

import asyncio
import json
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from types import TracebackType
from typing import ClassVar, Self

from tests.fakes.script import SCRIPT_IS_OVER, JsonObject, Reply, reply_from

Responder = Callable[[JsonObject], Reply]

_PATIENCE = 60.0
_KEEP_ALIVE_PAUSE = 0.05


class ScriptedServer(ABC):
    """Answers each request with the next reply of a script, or with what a responder makes of it.

    `requests` are the bodies in order, `headers` what came with them, `disconnects` how many streams the
    other side left before their end.
    """

    path: ClassVar[str]
    base: ClassVar[str]

    def __init__(
        self, script: Sequence[Reply] | Responder, *, models: Sequence[JsonObject] = ({"id": "scripted"},)
    ) -> None:
        self._models = list(models)
        self.requests: list[JsonObject] = []
        self.headers: list[dict[str, str]] = []
        self.disconnects = 0
        self._responder = script if callable(script) else None
        self._script: list[Reply] = [] if callable(script) else list(script)
        self._seen = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._ready = threading.Event()
        self._port = 0

    @property
    def url(self) -> str:
        """What a client takes as its api base."""
        return f"http://127.0.0.1:{self._port}{self.base}"

    @property
    def port(self) -> int:
        return self._port

    def add(self, *replies: Reply) -> None:
        self._script.extend(replies)

    async def requested(self, count: int = 1) -> None:
        """Wait until so many requests have come."""
        await self._until(lambda: len(self.requests) >= count, f"{count} requests")

    async def disconnected(self, count: int = 1) -> None:
        """Wait until so many streams were left by the other side."""
        await self._until(lambda: self.disconnects >= count, f"{count} disconnects")

    @abstractmethod
    def events(self, reply: Reply, request: JsonObject) -> Iterator[bytes]:
        """The stream of a good reply, event by event, end marks included."""

    @abstractmethod
    def error_body(self, reply: Reply) -> JsonObject: ...

    def answer(self, path: str) -> JsonObject | None:
        """Return what is known at another path, None if there is nothing."""
        return None

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(_PATIENCE)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_PATIENCE)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.__exit__, kind, error, trace)

    async def _until(self, holds: Callable[[], bool], what: str) -> None:
        def wait() -> bool:
            with self._seen:
                return self._seen.wait_for(holds, _PATIENCE)

        assert await asyncio.to_thread(wait), f"the server did not see {what}"

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._handle, "127.0.0.1", 0, limit=2**26)
        )
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            method, path, _ = head.split("\r\n", 1)[0].split(" ")
            headers = {
                name.strip().lower(): value.strip()
                for name, _, value in (line.partition(":") for line in head.split("\r\n")[1:] if line)
            }
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            await self._answer(method, path.partition("?")[0], headers, body, reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            # Cancelled means that the whole server ends.
            return
        finally:
            writer.close()

    async def _answer(
        self,
        method: str,
        path: str,
        headers: dict[str, str],
        body: bytes,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        if method == "GET" and path.endswith("/models"):
            listing: JsonObject = {"object": "list", "data": self._models}
            await _send_whole(writer, 200, {}, json.dumps(listing), "application/json")
            return
        if (answer := self.answer(path)) is not None:
            await _send_whole(writer, 200, {}, json.dumps(answer), "application/json")
            return
        if path != self.path:
            await _send_whole(writer, 404, {}, f"no such path: {path}", "text/plain")
            return
        request: JsonObject = json.loads(body)
        reply = self._next_reply(request, headers)
        if reply.status >= 400 or reply.body is not None:
            text, kind = (reply.body, "text/html") if reply.body is not None else (None, "application/json")
            await _send_whole(
                writer, reply.status, reply.headers, text or json.dumps(self.error_body(reply)), kind
            )
            return
        await self._stream(reply, request, reader, writer)

    def _next_reply(self, request: JsonObject, headers: dict[str, str]) -> Reply:
        with self._seen:
            self.requests.append(request)
            self.headers.append(headers)
            self._seen.notify_all()
        if self._responder is not None:
            return self._responder(request)
        return self._script.pop(0) if self._script else SCRIPT_IS_OVER

    async def _stream(
        self, reply: Reply, request: JsonObject, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(_head(200, reply.headers, "text/event-stream"))
        speaking = asyncio.ensure_future(self._speak(reply, request, writer))
        hanging_up = asyncio.ensure_future(reader.read())
        try:
            await asyncio.wait({speaking, hanging_up}, return_when=asyncio.FIRST_COMPLETED)
            if not speaking.done() or isinstance(speaking.exception(), ConnectionError):
                self._left()
        finally:
            speaking.cancel()
            hanging_up.cancel()

    async def _speak(self, reply: Reply, request: JsonObject, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(reply.first_delay)
        while reply.keep_alive:
            await _write(writer, b": still here\n\n")
            await asyncio.sleep(_KEEP_ALIVE_PAUSE)
        # Delays are measured against the clock, so that a rate holds although each sleep is a little late.
        due = time.monotonic()
        for count, event in enumerate(self.events(reply, request)):
            await self._misbehave(reply, count, writer)
            if reply.cut_after == count:
                await _write(writer, b"", is_last=reply.cut_cleanly)
                return
            await _write(writer, event)
            due += reply.chunk_delay
            await asyncio.sleep(max(0.0, due - time.monotonic()))
        await _write(writer, b"", is_last=True)

    async def _misbehave(self, reply: Reply, count: int, writer: asyncio.StreamWriter) -> None:
        if reply.garbage_after == count:
            await _write(writer, reply.garbage)
        if reply.stall_after == count:
            await asyncio.Event().wait()

    def _left(self) -> None:
        with self._seen:
            self.disconnects += 1
            self._seen.notify_all()


def _head(status: int, headers: Mapping[str, str], kind: str) -> bytes:
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", f"Content-Type: {kind}", "Connection: close"]
    if kind == "text/event-stream":
        lines.append("Transfer-Encoding: chunked")
    lines.extend(f"{name}: {value}" for name, value in headers.items())
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def _write(writer: asyncio.StreamWriter, data: bytes, *, is_last: bool = False) -> None:
    if data or is_last:
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await writer.drain()


async def _send_whole(
    writer: asyncio.StreamWriter, status: int, headers: Mapping[str, str], body: str, kind: str
) -> None:
    data = body.encode()
    writer.write(_head(status, {**headers, "Content-Length": str(len(data))}, kind) + data)
    await writer.drain()


def run_as_script(server_class: type[ScriptedServer], arguments: Iterable[str]) -> None:
    """Serve the JSON list of replies in the named file (or on standard input) and print the address."""
    names = list(arguments)
    if names:
        with open(names[0], encoding="utf-8") as file:  # noqa: PTH123  # a file or standard input, alike
            script = json.load(file)
    else:
        script = json.load(sys.stdin)
    with server_class([reply_from(fields) for fields in script]) as server:
        print(server.url, flush=True)
        threading.Event().wait()
