"""One command while it runs: its pipes, its exit, and how to end it with everything it started."""

import asyncio
import contextlib
import functools
import os
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coder_tui.shell.process_tree import MARKER, NamespaceTree, ProcessTree, first_process
from coder_tui.tasks import finish_despite_cancel


@dataclass(frozen=True, slots=True)
class Launch:
    """A command that is ready to start. It owns `descriptors` until the command has inherited them.

    Through `report`, bubblewrap reports the first process of its namespace. It is -1 without bubblewrap.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    descriptors: tuple[int, ...] = ()
    report: int = -1
    _open: list[int] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._open.extend(self.descriptors)

    def hand_over(self) -> None:
        """Close our copies once the command has its descriptors, so that reading `report` ends."""
        while self._open:
            os.close(self._open.pop())

    def close(self) -> None:
        self.hand_over()
        if self.report >= 0:
            with contextlib.suppress(OSError):
                os.close(self.report)


_DRAIN = 0.5

OutputHandler = Callable[[str, bytes], None]
"""Receives "stdout" or "stderr" and a piece of that stream."""


async def process_tree(launch: Launch, pid: int, marker: str) -> ProcessTree | NamespaceTree:
    """Return the handle that ends a command with everything it started. `launch` was started as `pid`."""
    launch.hand_over()
    if launch.report >= 0:
        first = await asyncio.to_thread(first_process, launch.report)
        # Without a first process there was never anything but bubblewrap itself.
        if first is not None:
            return NamespaceTree(first)
    return ProcessTree(pid, marker, is_launched=bool(launch.descriptors))


class _Pipe(asyncio.Protocol):
    """Passes on the data of one stream. `closed` is done when no process can write to it any more."""

    def __init__(self, receive: Callable[[bytes], None]) -> None:
        self._receive = receive
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        self._receive(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.closed.done():
            self.closed.set_result(None)


class RunningCommand:
    """Runs a command with our own pipes: asyncio's would wait for every process that holds them."""

    def __init__(self, on_output: OutputHandler, stdin: int = asyncio.subprocess.DEVNULL) -> None:
        """`stdin` is an open file that the command reads. The caller closes it."""
        self._on_output = on_output
        self._stdin = stdin
        self._pipes: list[_Pipe] = []
        self._transports: list[asyncio.BaseTransport] = []
        self._exit: asyncio.Task[int] | None = None
        self._tree: ProcessTree | NamespaceTree | None = None

    async def start(self, launch: Launch, directory: Path) -> None:
        """Start the command. Raises OSError if it cannot start. If cancelled, no process is left."""
        # A start cannot be undone halfway: it finishes soon, and is then ended.
        try:
            await finish_despite_cancel(self._start(launch, directory))
        except asyncio.CancelledError:
            if self._exit is not None:
                await finish_despite_cancel(self.end(0.0))
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
                stdin=self._stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
                pass_fds=launch.descriptors,
            )
        finally:
            os.close(stdout)
            os.close(stderr)
        self._exit = asyncio.ensure_future(process.wait())
        # If bubblewrap's report cannot be read, there must still be something to end.
        self._tree = ProcessTree(process.pid, marker, is_launched=bool(launch.descriptors))
        self._tree = await process_tree(launch, process.pid, marker)

    async def wait(self, time_limit: float | None) -> bool:
        """Wait for the command itself. Returns False if the time ran out first."""
        done, _ = await asyncio.wait({self._exiting}, timeout=time_limit)
        if done:
            # A background child may hold the pipes forever: what was printed so far is enough.
            await self._drain()
        return bool(done)

    async def end(self, grace: float) -> None:
        """End what still runs, and collect what it still prints."""
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
        """The exit code, or None while it runs. Signal N gives 128+N."""
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
        pipe = _Pipe(functools.partial(self._on_output, name))
        transport, _ = await loop.connect_read_pipe(lambda: pipe, file)
        self._pipes.append(pipe)
        self._transports.append(transport)
        return theirs

    async def _drain(self) -> None:
        waiting = {pipe.closed for pipe in self._pipes if not pipe.closed.done()}
        if waiting:
            await asyncio.wait(waiting, timeout=_DRAIN)
