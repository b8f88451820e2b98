"""The program's end of the line to a process of its own that speaks to servers.

Hands on the lines of a pipe as they come, without a task that would have to be woken for each.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, Self


class Lines(asyncio.Protocol):
    """`take` gets each line, without its end. `ValueError` from it, or too long a line, ends the reading."""

    def __init__(self, take: Callable[[bytes], None], longest: int) -> None:
        self._take = take
        self._longest = longest
        self._parts: list[bytes] = []
        self._size = 0
        self._transport: asyncio.ReadTransport | None = None
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when nothing more comes."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.ReadTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        *lines, rest = data.split(b"\n")
        try:
            for line in lines:
                parts, self._parts, self._size = self._parts, [], 0
                self._take(b"".join((*parts, line)) if parts else line)
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
# Servers get three seconds to end by themselves, then the process ends them.
_CLOSING_PATIENCE = 6.0


class LinkLostError(Exception):
    """The process ended; whatever was asked is not answered any more."""


class Log(Protocol):
    """Takes what the process prints as errors."""

    async def keep(self, stream: asyncio.StreamReader) -> None: ...

    def close(self) -> None: ...


Hear = Callable[[str, JsonObject], None]


class HostLink:
    """A child in a session of its own. `hear` gets the events, in the event loop."""

    def __init__(self, process: asyncio.subprocess.Process, log: Log, hear: Hear) -> None:
        assert process.stdin is not None and process.stderr is not None
        self._process = process
        self._stdin = process.stdin
        self._hear = hear
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._count = 0
        self._is_lost = False
        self.lines = Lines(self._take_line, LONGEST_LINE)
        self.lines.ended.add_done_callback(self._lost)
        self._logging = asyncio.ensure_future(log.keep(process.stderr))

    @classmethod
    async def start(cls, module: str, environment: Mapping[str, str], log: Log, hear: Hear) -> Self:
        """`module` is run as a program; `run_host` is what it calls."""
        out, into = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                # Without -P a file in the working directory could stand in for a module.
                *(sys.executable, "-P", "-m", module),
                stdin=asyncio.subprocess.PIPE,
                stdout=into,
                stderr=asyncio.subprocess.PIPE,
                env=dict(environment),
                cwd=Path(sys.executable).anchor,
                start_new_session=True,
            )
        except BaseException:
            os.close(out)
            log.close()
            raise
        finally:
            os.close(into)
        link = cls(process, log, hear)
        await asyncio.get_running_loop().connect_read_pipe(lambda: link.lines, os.fdopen(out, "rb"))
        return link

    @property
    def is_alive(self) -> bool:
        return not self._is_lost

    @property
    def pid(self) -> int:
        return self._process.pid

    async def request(self, op: str, **fields: object) -> Any:
        """The answer; cancelling this cancels the work. Raises `LinkLostError` when none will come."""
        if self._is_lost:
            raise LinkLostError
        self._count += 1
        number = self._count
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        self._write({"id": number, "op": op, **fields})
        try:
            return await answer
        except asyncio.CancelledError:
            self._write({"id": number, "op": "cancel"})
            raise
        finally:
            del self._answers[number]

    async def close(self) -> None:
        """Ask it to end, with all servers, by closing its input; insist after a while."""
        self._stdin.close()
        try:
            async with asyncio.timeout(_CLOSING_PATIENCE):
                await self._process.wait()
        except TimeoutError:
            self._kill()
            await self._process.wait()
        await self.lines.ended
        await asyncio.wait({self._logging}, timeout=1.0)

    def _write(self, line: JsonObject) -> None:
        if not self._is_lost and not self._stdin.is_closing():
            self._stdin.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def _take_line(self, line: bytes) -> None:
        try:
            self._take(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            # What follows a line that is none of ours cannot be trusted.
            self._kill()
            raise ValueError from error

    def _lost(self, _: "asyncio.Future[None]") -> None:
        self._is_lost = True
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(LinkLostError())

    def _take(self, line: JsonObject) -> None:
        if "event" in line:
            self._hear(line["event"], line["told"])
            return
        answer = self._answers.get(line["id"])
        if answer is None or answer.done():
            return
        if "failure" in line:
            answer.set_exception(RuntimeError(line["failure"]))
        else:
            answer.set_result(line["result"])

    def _kill(self) -> None:
        if self._process.returncode is None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                return
