"""One running model process and the conversations with it, by number."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from coder_tui.llm.wire import JsonObject
from coder_tui.shell.hosts.log import HostLog

_LONGEST_LINE = 2**26
_CLOSING_PATIENCE = 2.0


class HostGoneError(Exception):
    """The process ended, or said something that is not its protocol."""


class Channel:
    """The answers to one request, in order."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._answers: asyncio.Queue[JsonObject | None] = asyncio.Queue()

    def put(self, answer: JsonObject | None) -> None:
        self._answers.put_nowait(answer)

    async def next(self) -> JsonObject:
        """The next answer; raises `HostGoneError` when none will come."""
        answer = await self._answers.get()
        if answer is None:
            self._answers.put_nowait(None)
            raise HostGoneError
        return answer


class HostProcess:
    """A child in a session of its own, so that Ctrl+C in the terminal does not reach it."""

    def __init__(self, process: asyncio.subprocess.Process, log: HostLog | None) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._process = process
        self._stdin, self._stdout = process.stdin, process.stdout
        self._channels: dict[int, Channel] = {}
        self._count = 0
        self._is_gone = False
        self._reading = asyncio.ensure_future(self._read())
        self._logging: asyncio.Future[None] | None = None
        if log is not None and process.stderr is not None:
            self._logging = asyncio.ensure_future(log.keep(process.stderr))

    @classmethod
    async def start(cls, python: str, environment: Mapping[str, str], log: HostLog | None) -> Self:
        try:
            process = await asyncio.create_subprocess_exec(
                # Without -P a file in the working directory could stand in for a module.
                *(python, "-P", "-m", "coder_tui.llm.host"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL if log is None else asyncio.subprocess.PIPE,
                env=dict(environment),
                # litellm looks around where it stands; a workspace is not to be looked at.
                cwd=Path(sys.executable).anchor,
                start_new_session=True,
                limit=_LONGEST_LINE,
            )
        except BaseException:
            if log is not None:
                log.close()
            raise
        return cls(process, log)

    @property
    def is_alive(self) -> bool:
        return not self._is_gone and self._process.returncode is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def request(self, op: str, **fields: object) -> Channel:
        self._count += 1
        channel = Channel(self._count)
        self._channels[channel.number] = channel
        if self._is_gone:
            channel.put(None)
        else:
            self._write({"id": channel.number, "op": op, **fields})
        return channel

    def cancel(self, channel: Channel) -> None:
        self._write({"id": channel.number, "op": "cancel"})

    def release(self, channel: Channel) -> None:
        """Drop the answers that may still come."""
        self._channels.pop(channel.number, None)

    def kill(self) -> None:
        """End it at once, with whatever it may have started."""
        self._is_gone = True
        if self._process.returncode is None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                return

    async def close(self) -> None:
        """Ask it to end by closing its input; insist after a while."""
        self._stdin.close()
        try:
            async with asyncio.timeout(_CLOSING_PATIENCE):
                await self._process.wait()
        except TimeoutError:
            self.kill()
            await self._process.wait()
        await self._reading
        if self._logging is not None:
            # Whatever it started may hold the pipe for ever.
            await asyncio.wait({self._logging}, timeout=_CLOSING_PATIENCE)

    def _write(self, line: JsonObject) -> None:
        if not self._is_gone and not self._stdin.is_closing():
            self._stdin.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")

    async def _read(self) -> None:
        try:
            while line := await self._stdout.readline():
                answer = json.loads(line)
                channel = self._channels.get(answer["id"])
                if channel is not None:
                    channel.put(answer)
        except (ValueError, KeyError, TypeError):
            # A line over the limit, or none of the protocol: what follows cannot be trusted.
            self.kill()
        finally:
            self._is_gone = True
            for channel in self._channels.values():
                channel.put(None)
        await self._process.wait()
