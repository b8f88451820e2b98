"""The program's end of the link to one of its child processes: start it, send JSON lines, end it.

Lines are handled as they arrive, without a task that must wake up for each. What the process prints passes
here before it goes to its log, because the process does not know all of our secrets.
"""

import asyncio
import codecs
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

from coder_tui.text.redact import LineStream, Redactor


class Lines(asyncio.Protocol):
    """Calls `on_line` with each line, without its end. A `ValueError` or a line that is too long stops it."""

    def __init__(self, on_line: Callable[[bytes], None], longest: int) -> None:
        self._on_line = on_line
        self._longest = longest
        self._parts: list[bytes] = []
        self._size = 0
        self._transport: asyncio.ReadTransport | None = None
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the input has ended."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.ReadTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        *lines, rest = data.split(b"\n")
        try:
            for line in lines:
                parts, self._parts, self._size = self._parts, [], 0
                self._on_line(b"".join((*parts, line)) if parts else line)
            self._keep(rest)
        except ValueError:
            self.stop()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_result(None)

    def stop(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def _keep(self, rest: bytes) -> None:
        if rest:
            self._parts.append(rest)
            self._size += len(rest)
            if self._size > self._longest:
                raise ValueError("a line without an end")


JsonObject = dict[str, Any]
LONGEST_LINE = 2**26


class LinkLostError(Exception):
    """The process ended, so open requests get no answer."""


_LOG_LIMIT = 2**20
_PIECE = 2**16


class HostLog:
    """Writes what a child prints to a private file, without secrets."""

    def __init__(self, path: Path, redact: Redactor) -> None:
        self._file = _open(path)
        self._lines = LineStream(redact)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    async def record(self, stream: asyncio.StreamReader) -> None:
        """Write the stream to the file until it ends, then close the file."""
        with self._file:
            while data := await stream.read(_PIECE):
                self._write(self._lines.feed(self._decoder.decode(data)))
            self._write(self._lines.feed(self._decoder.decode(b"", True)) + self._lines.finish())

    def close(self) -> None:
        self._file.close()

    def _write(self, text: str) -> None:
        if text:
            self._file.write(text.encode())
            self._file.flush()


def _open(path: Path) -> IO[bytes]:
    path.parent.mkdir(parents=True, exist_ok=True)
    is_long = path.exists() and path.stat().st_size > _LOG_LIMIT
    file = path.open("wb" if is_long else "ab")
    path.chmod(0o600)
    return file


class Channel:
    """The answers to one request, in order."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._answers: asyncio.Queue[JsonObject | None] = asyncio.Queue()

    def put(self, answer: JsonObject | None) -> None:
        """Add an answer, or None if no more will come."""
        self._answers.put_nowait(answer)

    async def next(self) -> JsonObject:
        """Return the next answer. Raises `LinkLostError` if none will come."""
        answer = await self._answers.get()
        if answer is None:
            self._answers.put_nowait(None)
            raise LinkLostError
        return answer


@dataclass(frozen=True, slots=True)
class HostProgram:
    """The child process to start: `python -m module`. Its error output goes to `log`, or nowhere."""

    module: str
    environment: Mapping[str, str]
    log: Path | None
    redact: Redactor
    python: str = sys.executable
    closing_seconds: float = 6.0
    """Servers get three seconds to end on their own, then the process ends them."""


EventHandler = Callable[[str, JsonObject], None]


class HostLink:
    """A child process in its own session, so that Ctrl+C in the terminal does not reach it.

    `on_event` gets its events, in the event loop.
    """

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        log: HostLog | None,
        on_event: EventHandler,
        closing_seconds: float,
    ) -> None:
        assert process.stdin is not None
        self._process = process
        self._stdin = process.stdin
        self._on_event = on_event
        self._closing_seconds = closing_seconds
        self._channels: dict[int, Channel] = {}
        self._count = 0
        self._is_lost = False
        self.lines = Lines(self._handle_line, LONGEST_LINE)
        self.lines.ended.add_done_callback(self._lost)
        self._logging: asyncio.Future[None] | None = None
        if log is not None and process.stderr is not None:
            self._logging = asyncio.ensure_future(log.record(process.stderr))

    @classmethod
    async def start(cls, program: HostProgram, on_event: EventHandler) -> Self:
        """Start the process. Raises OSError if it cannot start."""
        log = await asyncio.to_thread(HostLog, program.log, program.redact) if program.log else None
        out, into = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                # Without -P a file in the working directory could replace a module.
                *(program.python, "-P", "-m", program.module),
                stdin=asyncio.subprocess.PIPE,
                stdout=into,
                stderr=asyncio.subprocess.DEVNULL if log is None else asyncio.subprocess.PIPE,
                env=dict(program.environment),
                # litellm reads files of its working directory, which must not be a workspace.
                cwd=Path(sys.executable).anchor,
                start_new_session=True,
            )
        except BaseException:
            os.close(out)
            if log is not None:
                log.close()
            raise
        finally:
            os.close(into)
        link = cls(process, log, on_event, program.closing_seconds)
        await asyncio.get_running_loop().connect_read_pipe(lambda: link.lines, os.fdopen(out, "rb"))
        return link

    @property
    def is_alive(self) -> bool:
        return not self._is_lost and self._process.returncode is None

    @property
    def pid(self) -> int:
        return self._process.pid

    async def request(self, op: str, **fields: object) -> Any:
        """Return the answer. Cancelling cancels the work. Raises `LinkLostError` if none will come."""
        channel = self.open(op, **fields)
        try:
            answer = await channel.next()
        except asyncio.CancelledError:
            self.cancel(channel)
            raise
        finally:
            self.release(channel)
        if "failure" in answer:
            raise RuntimeError(answer["failure"])
        return answer["result"]

    def open(self, op: str, **fields: object) -> Channel:
        """Send a request with several answers. The caller must release the channel."""
        self._count += 1
        channel = self._channels[self._count] = Channel(self._count)
        if self._is_lost:
            channel.put(None)
        self._write({"id": channel.number, "op": op, **fields})
        return channel

    def cancel(self, channel: Channel) -> None:
        self._write({"id": channel.number, "op": "cancel"})

    def release(self, channel: Channel) -> None:
        """Drop the answers that may still come."""
        self._channels.pop(channel.number, None)

    def kill(self) -> None:
        """Kill the process with everything it started."""
        self._is_lost = True
        if self._process.returncode is None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                return

    async def close(self) -> None:
        """Close its input, so that it ends with all servers. Kill it if it takes too long."""
        self._stdin.close()
        try:
            async with asyncio.timeout(self._closing_seconds):
                await self._process.wait()
        except TimeoutError:
            self.kill()
            await self._process.wait()
        await self.lines.ended
        if self._logging is not None:
            # A process that it started may hold the pipe forever.
            await asyncio.wait({self._logging}, timeout=1.0)

    def _write(self, line: JsonObject) -> None:
        if not self._is_lost and not self._stdin.is_closing():
            self._stdin.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def _handle_line(self, line: bytes) -> None:
        try:
            self._dispatch(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            # After an invalid line, nothing can be trusted.
            self.kill()
            raise ValueError from error

    def _lost(self, _: "asyncio.Future[None]") -> None:
        self._is_lost = True
        for channel in self._channels.values():
            channel.put(None)

    def _dispatch(self, line: JsonObject) -> None:
        if "event" in line:
            self._on_event(line["event"], line["data"])
        elif (channel := self._channels.get(line["id"])) is not None:
            channel.put(line)
