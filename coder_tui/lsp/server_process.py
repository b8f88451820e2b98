"""A language server's process: confined, in a group of its own, its error output bounded, its end certain."""

import asyncio
import contextlib
import re
import uuid
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
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
_LONGEST_MESSAGE = 2**26
_TERM_GRACE = 1.0
_LAST_WORDS = 0.5
_HEADER = re.compile(rb"Content-Length: *(\d+)", re.IGNORECASE)
_PLAIN = re.compile(rb"Content-Length: (\d+)\r\n")


class _Tree(Protocol):
    async def end(self, grace: float) -> None: ...
    def close(self) -> None: ...


class TolerantReader:
    """Finds the messages though the server, or what starts it, prints something before or between them."""

    def __init__(self, stream: asyncio.StreamReader) -> None:
        self._stream = stream
        self.noise = b""
        """What was no message, the last of it."""

    async def readline(self) -> bytes:
        try:
            line = await self._stream.readline()
        except ValueError:
            # A line without an end: what is there is dropped, and the search goes on.
            line = await self._stream.read(_CHUNK)
        found = _HEADER.search(line)
        if found is None:
            if line.strip() and b":" not in line[:40]:
                self.noise = (self.noise + line)[-_KEPT:]
            return line
        if int(found[1]) > _LONGEST_MESSAGE:
            raise ValueError(f"a message of {int(found[1])} bytes is too long")
        return line if _PLAIN.fullmatch(line) else b"Content-Length: %d\r\n" % int(found[1])

    async def readexactly(self, n: int) -> bytes:
        return await self._stream.readexactly(n)


class ServerProcess:
    """`held` is released when all of its processes are gone."""

    def __init__(self, process: asyncio.subprocess.Process, tree: _Tree, held: ExitStack) -> None:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self._process = process
        self._tree = tree
        self._held = held
        self._said = b""
        self.writer = process.stdin
        self.reader = TolerantReader(process.stdout)
        self._draining = asyncio.ensure_future(self._drain(process.stderr))

    @classmethod
    async def start(
        cls,
        sandbox: Sandbox,
        argv: Sequence[str],
        environment: Mapping[str, str],
        directory: Path,
        *,
        network: bool,
    ) -> Self:
        """Raises OSError or `ToolError` when it cannot start. Cancelled meanwhile, nothing runs on."""
        starting = asyncio.ensure_future(_started(sandbox, argv, environment, directory, network=network))
        try:
            return cls(*await asyncio.shield(starting))
        except asyncio.CancelledError:
            await asyncio.wait({starting})
            if not starting.exception():
                await insist(cls(*starting.result()).end())
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    async def exited(self) -> int:
        return await self._process.wait()

    def said(self) -> str:
        """The last of its error output and of what it printed where only messages belong."""
        return (self._said + self.reader.noise).decode("utf-8", "replace").strip()

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


async def _started(
    sandbox: Sandbox, argv: Sequence[str], environment: Mapping[str, str], directory: Path, *, network: bool
) -> tuple[asyncio.subprocess.Process, _Tree, ExitStack]:
    with ExitStack() as held:
        confinement = Confinement(network=network)
        cell = sandbox.launch(argv, environment, confinement)
        launch = await asyncio.to_thread(held.enter_context, cell)
        process, tree = await _spawn(launch, directory)
        return process, tree, held.pop_all()


async def _spawn(launch: Launch, directory: Path) -> tuple[asyncio.subprocess.Process, _Tree]:
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
        limit=_LONGEST_LINE,
    )
    launch.hand_over()
    tree: _Tree = ProcessTree(process.pid, marker, is_launched=bool(launch.descriptors))
    if launch.report >= 0:
        first = await asyncio.to_thread(first_process, launch.report)
        if first is not None:
            tree = NamespaceTree(first)
    return process, tree
