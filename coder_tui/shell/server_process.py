"""A server's process that is spoken to by pipes: confined, in a group of its own, its end certain."""

import asyncio
import contextlib
import uuid
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Protocol, Self

from coder_tui.shell.confinement import Confinement
from coder_tui.shell.launch import Launch
from coder_tui.shell.namespace_tree import NamespaceTree, first_process
from coder_tui.shell.process_tree import MARKER, ProcessTree
from coder_tui.shell.running import insist
from coder_tui.shell.sandbox import Sandbox

_KEPT = 8_000
_CHUNK = 65_536
_LONGEST_LINE = 2**20
_TERM_GRACE = 1.0
_LAST_WORDS = 0.5
_AGAIN = 0.05


class Tree(Protocol):
    async def end(self, grace: float) -> None: ...
    def close(self) -> None: ...


_Started = tuple[asyncio.subprocess.Process, Tree, ExitStack]


class ServerProcess:
    """`held` is released when all of its processes are gone."""

    def __init__(self, process: asyncio.subprocess.Process, tree: Tree, held: ExitStack) -> None:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self._process = process
        self._tree = tree
        self._held = held
        self._said = b""
        self.writer = process.stdin
        self.stdout = process.stdout
        self._draining = asyncio.ensure_future(self._drain(process.stderr))

    @classmethod
    async def start(
        cls,
        sandbox: Sandbox,
        argv: Sequence[str],
        environment: Mapping[str, str],
        directory: Path,
        confinement: Confinement,
        longest_line: int = _LONGEST_LINE,
    ) -> Self:
        """Raises OSError or `ToolError` when it cannot start. Cancelled meanwhile, nothing runs on."""
        cell = sandbox.launch(argv, environment, confinement)
        starting = asyncio.ensure_future(_started(cell, directory, longest_line))
        try:
            return cls(*await asyncio.shield(starting))
        except asyncio.CancelledError:
            await insist(cls._abandon(starting))
            raise

    @classmethod
    async def _abandon(cls, starting: "asyncio.Task[_Started]") -> None:
        """Wait until a start is over, and end what it started.

        If the loop ends, all of its tasks are cancelled, also the one by which asyncio connects the pipes.
        Then asyncio kills the process and waits forever for the pipes to close, unless cancelled once more.
        """
        while not starting.done():
            is_loop_ending = starting.cancelling() > 0
            await asyncio.wait({starting}, timeout=_AGAIN if is_loop_ending else None)
            if is_loop_ending:
                starting.cancel()
        if not starting.cancelled() and not starting.exception():
            await cls(*starting.result()).end()

    @property
    def pid(self) -> int:
        return self._process.pid

    async def exited(self) -> int:
        return await self._process.wait()

    def said(self) -> str:
        """The last of its error output."""
        return self._said.decode("utf-8", "replace").strip()

    def hear(self, piece: bytes) -> None:
        """For those who keep all of its error output, not only the last."""

    async def end(self) -> None:
        """Return when nothing of it lives."""
        with contextlib.suppress(OSError, RuntimeError):
            self.writer.close()
        await self._tree.end(_TERM_GRACE)
        self._tree.close()
        # Nobody is left to write: what is in the pipe are its last words.
        await asyncio.wait({self._draining}, timeout=_LAST_WORDS)
        self._draining.cancel()
        await asyncio.wait({self._draining})
        await asyncio.to_thread(self._held.close)

    async def _drain(self, stream: asyncio.StreamReader) -> None:
        while piece := await stream.read(_CHUNK):
            self._said = (self._said + piece)[-_KEPT:]
            self.hear(piece)


async def _started(cell: AbstractContextManager[Launch], directory: Path, longest_line: int) -> _Started:
    with ExitStack() as held:
        launch = await asyncio.to_thread(held.enter_context, cell)
        process, tree = await _spawn(launch, directory, longest_line)
        return process, tree, held.pop_all()


async def _spawn(
    launch: Launch, directory: Path, longest_line: int
) -> tuple[asyncio.subprocess.Process, Tree]:
    marker = uuid.uuid4().hex
    process = await asyncio.create_subprocess_exec(
        *launch.argv,
        cwd=directory,
        env={**launch.environment, MARKER: marker},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
        pass_fds=launch.descriptors,
        limit=longest_line,
    )
    launch.hand_over()
    tree: Tree = ProcessTree(process.pid, marker, is_launched=bool(launch.descriptors))
    if launch.report >= 0:
        first = await asyncio.to_thread(first_process, launch.report)
        if first is not None:
            tree = NamespaceTree(first)
    return process, tree
