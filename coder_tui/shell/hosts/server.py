"""The process of a server that communicates by pipes: confined, in its own group, and reliably ended."""

import asyncio
import contextlib
import re
import signal
import uuid
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from coder_tui.shell.process_tree import MARKER, NamespaceTree, ProcessTree
from coder_tui.shell.running import Launch, process_tree
from coder_tui.shell.sandbox.confinement import Confinement
from coder_tui.shell.sandbox.sandbox import Sandbox
from coder_tui.tasks import finish_despite_cancel

_KEPT = 8_000
_CHUNK = 65_536
_LONGEST_LINE = 2**20
_TERM_GRACE = 1.0
_DRAIN_SECONDS = 0.5
_AGAIN = 0.05


class _Protocol(asyncio.subprocess.SubprocessStreamProtocol):
    """Reports the exit at once: asyncio's `wait` also waits for every process that holds the pipes."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit, asyncio.get_running_loop())
        self.has_exited = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.has_exited.set()


@dataclass(frozen=True, slots=True)
class Spawned:
    """A running process, the event of its exit, and the handle to end it."""

    process: asyncio.subprocess.Process
    has_exited: asyncio.Event
    tree: ProcessTree | NamespaceTree


_Started = tuple[Spawned, ExitStack]


class ServerProcess:
    """A server's process. `held` is released when all of its processes have ended."""

    def __init__(self, spawned: Spawned, held: ExitStack) -> None:
        process = spawned.process
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self._process = process
        self._has_exited = spawned.has_exited
        self._tree = spawned.tree
        self._held = held
        self._stderr = b""
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
        """Start a server. Raises OSError or `ToolError` if it cannot start.

        If cancelled, no process is left.
        """
        cell = sandbox.launch(argv, environment, confinement)
        starting = asyncio.ensure_future(_started(cell, directory, longest_line))
        try:
            return cls(*await asyncio.shield(starting))
        except asyncio.CancelledError:
            await finish_despite_cancel(cls._abandon(starting))
            raise

    @classmethod
    async def _abandon(cls, starting: "asyncio.Task[_Started]") -> None:
        """Wait until the start has finished, and end what it started.

        If the loop ends, all of its tasks are cancelled, including the one that connects the pipes.
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
        await self._has_exited.wait()
        code = self._process.returncode
        assert code is not None
        return code

    def stderr_text(self) -> str:
        """Return the last part of its error output."""
        return self._stderr.decode("utf-8", "replace").strip()

    def on_stderr(self, piece: bytes) -> None:
        """Handle a piece of its error output. Subclasses may keep all of it."""

    async def end(self) -> None:
        """End the server. Returns when all of its processes have ended."""
        with contextlib.suppress(OSError, RuntimeError):
            self.writer.close()
        tree = self._tree
        if isinstance(tree, ProcessTree) and self._process.returncode == -signal.SIGKILL:
            # A launcher that was killed ends no other process.
            tree = replace(tree, is_launched=False)
        await tree.end(_TERM_GRACE)
        tree.close()
        # No process is left to write, so the pipe has the last of its output.
        await asyncio.wait({self._draining}, timeout=_DRAIN_SECONDS)
        self._draining.cancel()
        await asyncio.wait({self._draining})
        await asyncio.to_thread(self._held.close)

    async def _drain(self, stream: asyncio.StreamReader) -> None:
        while piece := await stream.read(_CHUNK):
            self._stderr = (self._stderr + piece)[-_KEPT:]
            self.on_stderr(piece)


async def _started(cell: AbstractContextManager[Launch], directory: Path, longest_line: int) -> _Started:
    with ExitStack() as held:
        launch = await asyncio.to_thread(held.enter_context, cell)
        return await _spawn(launch, directory, longest_line), held.pop_all()


async def _spawn(launch: Launch, directory: Path, longest_line: int) -> Spawned:
    marker = uuid.uuid4().hex
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(
        lambda: _Protocol(longest_line),
        *launch.argv,
        cwd=directory,
        env={**launch.environment, MARKER: marker},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
        pass_fds=launch.descriptors,
    )
    process = asyncio.subprocess.Process(transport, protocol, loop)
    return Spawned(process, protocol.has_exited, await process_tree(launch, process.pid, marker))


MOST = 600
_ERROR = re.compile(r"^\W*(\w*error|fatal|panic)\b", re.IGNORECASE)


def stderr_tail(output: str, most: int = MOST) -> str:
    """Return the last whole lines of error output that explain why a program died.

    If the line with the error comes before those, it goes first.
    """
    text = output.strip()
    if len(text) <= most:
        return text
    lines = text.splitlines()
    error = next((line.strip() for line in reversed(lines) if _ERROR.match(line)), "")[:most]
    tail = text[-(most - len(error)) :].partition("\n")[2] if len(error) < most else ""
    if error and error in tail:
        return tail
    return "\n".join(filter(None, (error, tail))) or text[-most:]
