"""One command while it runs: its pipes, its exit, and the way to end it with all that it started.

A command ready to start, confined or not.
"""

import asyncio
import contextlib
import functools
import os
import uuid
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from coder_tui.shell.process_tree import MARKER, NamespaceTree, ProcessTree, first_process


@dataclass(frozen=True, slots=True)
class Launch:
    """`descriptors` are handed to the command by their numbers, and belong to this until it has started.

    `report` is where bubblewrap tells which process is the first of its namespace; -1 without one.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    descriptors: tuple[int, ...] = ()
    report: int = -1
    _open: list[int] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._open.extend(self.descriptors)

    def hand_over(self) -> None:
        """The command has its descriptors: ours are closed, so that reading `report` comes to an end."""
        while self._open:
            os.close(self._open.pop())

    def close(self) -> None:
        self.hand_over()
        if self.report >= 0:
            with contextlib.suppress(OSError):
                os.close(self.report)


_DRAIN = 0.5

Take = Callable[[str, bytes], None]
"""Receives `stdout` or `stderr` and a piece of it."""


async def insist(work: Coroutine[Any, Any, None]) -> None:
    """Wait to the end of `work`; a cancellation that arrives meanwhile, or several, is raised afterwards."""
    task = asyncio.ensure_future(work)
    interruption: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            interruption = error
    task.result()
    if interruption is not None:
        raise interruption


class _Tree(Protocol):
    async def end(self, grace: float) -> None: ...
    def close(self) -> None: ...


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


class RunningCommand:
    """The pipes are our own: asyncio's would make waiting for the exit wait for every holder of the pipes."""

    def __init__(self, take: Take, given: int = asyncio.subprocess.DEVNULL) -> None:
        """`given` is an open file that the command reads as its input; it stays the caller's."""
        self._take = take
        self._given = given
        self._pipes: list[_Pipe] = []
        self._transports: list[asyncio.BaseTransport] = []
        self._exit: asyncio.Task[int] | None = None
        self._tree: _Tree | None = None

    async def start(self, launch: Launch, directory: Path) -> None:
        """Raises OSError when it cannot start. Cancelled meanwhile, nothing runs on."""
        # Half a start could not be taken back: it comes to its end, which is soon, and is ended then.
        starting = asyncio.ensure_future(self._start(launch, directory))
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            await asyncio.wait({starting})
            if not starting.exception():
                await insist(self.end(0.0))
            self.close()
            raise
        except BaseException:
            self.close()
            raise

    async def _start(self, launch: Launch, directory: Path) -> None:
        marker = uuid.uuid4().hex
        stdout, stderr = await self._open_pipe("stdout"), await self._open_pipe("stderr")
        try:
            process = await asyncio.create_subprocess_exec(
                *launch.argv,
                cwd=directory,
                env={**launch.environment, MARKER: marker},
                stdin=self._given,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
                pass_fds=launch.descriptors,
            )
        finally:
            os.close(stdout)
            os.close(stderr)
        launch.hand_over()
        self._exit = asyncio.ensure_future(process.wait())
        self._tree = ProcessTree(process.pid, marker, is_launched=bool(launch.descriptors))
        if launch.report >= 0:
            first = await asyncio.to_thread(first_process, launch.report)
            # Without a first process there was never anything but bubblewrap itself.
            if first is not None:
                self._tree = NamespaceTree(first)

    async def wait(self, time_limit: float | None) -> bool:
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
        if self._tree is not None:
            self._tree.close()

    @property
    def exit_code(self) -> int | None:
        """None while it runs; a signal N gives 128+N."""
        if self._exit is None or not self._exit.done():
            return None
        code = self._exit.result()
        return code if code >= 0 else 128 - code

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

    async def _drain(self) -> None:
        waiting = {pipe.closed for pipe in self._pipes if not pipe.closed.done()}
        if waiting:
            await asyncio.wait(waiting, timeout=_DRAIN)
