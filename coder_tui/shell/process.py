"""Runs one command to its end: bounded output, live pieces, a time limit, and nothing left behind."""

import asyncio
import functools
import os
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coder_tui.shell.output import HeadAndTail, LiveOutput
from coder_tui.shell.process_tree import MARKER, ProcessTree

TIMED_OUT = 124
_DRAIN = 0.5
_GRACE_TIMEOUT = 2.0
# A person who pressed Esc is waiting.
_GRACE_CANCEL = 0.25


@dataclass(frozen=True, slots=True)
class Completed:
    """How a command ended; `output` is both streams as they came in. A signal N gives the exit code 128+N."""

    exit_code: int
    stdout: str
    stderr: str
    output: str
    truncated: bool
    timed_out: bool
    duration_ms: int


def shell_argv(shell: str, command: str) -> tuple[str, ...]:
    return (shell, "-lc", command)


async def run_command(
    argv: Sequence[str],
    *,
    directory: Path,
    time_limit: float,
    limit: int,
    environment: Mapping[str, str],
    on_output: Callable[[str], None],
) -> Completed:
    """Run `argv` in a session of its own, without input. Raises OSError when it cannot start.

    Cancelling ends all of its processes before the cancellation goes on.
    """
    command = _Command(limit, on_output)
    started = time.monotonic()
    await command.start(argv, directory, environment)
    try:
        timed_out = not await command.wait(time_limit)
        await command.end(_GRACE_TIMEOUT)
    except asyncio.CancelledError:
        await _insist(asyncio.ensure_future(command.end(_GRACE_CANCEL)))
        raise
    finally:
        command.close()
    return command.completed(timed_out=timed_out, duration=time.monotonic() - started)


async def _insist(ending: "asyncio.Task[None]") -> None:
    """Wait to the end, even when cancelled once more meanwhile."""
    while not ending.done():
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            if ending.cancelled():
                return


class _Pipe(asyncio.Protocol):
    """Hands on what arrives on one stream; `closed` is done when nobody can write to it any more."""

    def __init__(self, receive: Callable[[bytes], None]) -> None:
        self._receive = receive
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        self._receive(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.closed.done():
            self.closed.set_result(None)


class _Command:
    """One running command with its two pipes.

    The pipes are our own: asyncio's would make waiting for the exit wait for every holder of the pipes.
    """

    def __init__(self, limit: int, on_output: Callable[[str], None]) -> None:
        self._buffers = {"stdout": HeadAndTail(limit), "stderr": HeadAndTail(limit)}
        self._merged = HeadAndTail(limit)
        self._live = LiveOutput(on_output)
        self._pipes: list[_Pipe] = []
        self._transports: list[asyncio.BaseTransport] = []
        self._exit: asyncio.Task[int] | None = None
        self._tree: ProcessTree | None = None

    async def start(self, argv: Sequence[str], directory: Path, environment: Mapping[str, str]) -> None:
        marker = uuid.uuid4().hex
        stdout, stderr = await self._open_pipe("stdout"), await self._open_pipe("stderr")
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                cwd=directory,
                env={**environment, MARKER: marker},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        except BaseException:
            self.close()
            raise
        finally:
            os.close(stdout)
            os.close(stderr)
        self._tree = ProcessTree(process.pid, marker)
        self._exit = asyncio.ensure_future(process.wait())

    async def wait(self, time_limit: float) -> bool:
        """Wait for the command itself; False when the time was up first."""
        done, _ = await asyncio.wait({self._exiting}, timeout=time_limit)
        if done:
            # A child in the background may hold the pipes for ever: what was printed so far is enough.
            await self._drain()
        return bool(done)

    async def end(self, grace: float) -> None:
        """End what still runs, and take what it still printed."""
        if self._tree is not None:
            await self._tree.end(grace)
        await self._exiting
        await self._drain()

    def close(self) -> None:
        for transport in self._transports:
            transport.close()
        self._live.flush()

    def completed(self, *, timed_out: bool, duration: float) -> Completed:
        code = self._exiting.result()
        stdout, stderr = self._buffers["stdout"], self._buffers["stderr"]
        return Completed(
            exit_code=TIMED_OUT if timed_out else code if code >= 0 else 128 - code,
            stdout=stdout.text(),
            stderr=stderr.text(),
            output=self._merged.text(),
            truncated=stdout.is_truncated or stderr.is_truncated,
            timed_out=timed_out,
            duration_ms=round(duration * 1000),
        )

    @property
    def _exiting(self) -> "asyncio.Task[int]":
        if self._exit is None:
            raise RuntimeError("the command was not started")
        return self._exit

    async def _open_pipe(self, name: str) -> int:
        """Open a pipe into our buffers and return the end that the command writes to."""
        ours, theirs = os.pipe()
        loop = asyncio.get_running_loop()
        file = os.fdopen(ours, "rb", buffering=0)
        pipe = _Pipe(functools.partial(self._take, name))
        transport, _ = await loop.connect_read_pipe(lambda: pipe, file)
        self._pipes.append(pipe)
        self._transports.append(transport)
        return theirs

    def _take(self, name: str, data: bytes) -> None:
        self._buffers[name].add(data)
        self._merged.add(data)
        self._live.add(name, data)

    async def _drain(self) -> None:
        waiting = {pipe.closed for pipe in self._pipes if not pipe.closed.done()}
        if waiting:
            await asyncio.wait(waiting, timeout=_DRAIN)
