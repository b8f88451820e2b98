"""One language server in one folder: its process, restarts after crashes, and its certain end."""

import asyncio
import contextlib
import logging
import re
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from coder_tui.lsp.client import LspClient
from coder_tui.lsp.server_session import (
    GoneError,
    Listener,
    NotAnsweredError,
    RefusedError,
    ServerSession,
    initialize_params,
)
from coder_tui.lsp.wire import ServerOrder, ServerState, StateChanged
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.protocol.errors import ToolError
from coder_tui.shell.hosts.server import ServerProcess, Spawned, stderr_tail
from coder_tui.shell.hosts.supervisor import CrashSupervisor
from coder_tui.shell.sandbox.confinement import Confinement
from coder_tui.shell.sandbox.sandbox import Sandbox

_KEPT = 8_000
_CHUNK = 65_536
_LONGEST_MESSAGE = 2**26
_HEADER = re.compile(rb"Content-Length: *(\d+)", re.IGNORECASE)
_PLAIN = re.compile(rb"Content-Length: (\d+)\r\n")


class TolerantReader:
    """Finds the messages even if the server, or its launcher, prints other text before or between them."""

    def __init__(self, stream: asyncio.StreamReader) -> None:
        self._stream = stream
        self.noise = b""
        """The last output that was not a message."""

    async def readline(self) -> bytes:
        try:
            line = await self._stream.readline()
        except ValueError:
            # An endless line: drop what is there and go on searching.
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


class LspProcess(ServerProcess):
    def __init__(self, spawned: Spawned, held: ExitStack) -> None:
        super().__init__(spawned, held)
        self.reader = TolerantReader(self.stdout)

    def stderr_text(self) -> str:
        """Return its error output, and the last text that it printed among the messages."""
        return (super().stderr_text() + self.reader.noise.decode("utf-8", "replace")).strip()


log = logging.getLogger(__name__)
_INITIALIZE = 45.0
_SHUTDOWN = 2.0
_EXIT = 1.0
_TAIL = 600


class Run:
    """One run of the server's process, from start to exit."""

    def __init__(self, process: LspProcess, order: ServerOrder, listener: Listener) -> None:
        self.process = process
        self.session = ServerSession(order, listener)
        self.client = LspClient(process.reader, process.writer, self.session)

    async def begin(self, order: ServerOrder) -> None:
        result = await self._initialized(initialize_params(order))
        self.session.begin(result)
        self.client.notify("initialized", {})
        if order.settings:
            # Only if there are any: an empty table makes some servers forget their own settings.
            self.client.notify("workspace/didChangeConfiguration", {"settings": order.settings})

    async def _initialized(self, params: Any) -> Any:
        """Return the answer to `initialize`; raise if the process exits or sends something else first."""
        asking = asyncio.ensure_future(self.client.request("initialize", params, _INITIALIZE))
        exiting = asyncio.ensure_future(self.process.exited())
        garbling = asyncio.ensure_future(self.session.has_protocol_error.wait())
        tasks: tuple[asyncio.Future[Any], ...] = (asking, exiting, garbling)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                return asking.result()
            if exiting.done():
                raise GoneError(f"it exited with code {exiting.result()}")
            raise GoneError(f"it sent something that is not a message: {self.session.protocol_error}")
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def over(self) -> None:
        """Return when the process has ended or stopped talking."""
        exiting = asyncio.ensure_future(self.process.exited())
        ending = asyncio.ensure_future(self.client.ended())
        try:
            await asyncio.wait({exiting, ending}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (exiting, ending):
                task.cancel()

    async def finish(self) -> None:
        """End the process: shutdown and exit first, then by force."""
        with contextlib.suppress(GoneError, NotAnsweredError, RefusedError):
            await self.client.request("shutdown", None, _SHUTDOWN)
            self.client.notify("exit", None)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_EXIT):
                    await self.over()
        await self.discard()

    async def discard(self) -> None:
        self.client.close()
        await self.process.end()


class Lifecycle:
    """The runs of one server, one after another, and the one that answers now."""

    def __init__(
        self,
        order: ServerOrder,
        sandbox: Sandbox,
        listener: Listener,
        tell: Callable[[StateChanged], None],
        on_move: Callable[[], None],
    ) -> None:
        self.order = order
        self.generation = 0
        self.run: Run | None = None
        """The run that answers; None while the server starts, pauses or has given up."""
        self.status = ServerStatus.STARTING
        self.detail = ""
        self.moved = asyncio.Event()
        """Set, and replaced, when any of these changes."""
        self._sandbox = sandbox
        self._listener = listener
        self._tell = tell
        self._on_move = on_move
        self._restarting: asyncio.Task[None] | None = None
        self._supervisor = CrashSupervisor(self._once, self._lost)

    async def running(self, deadline: float) -> Run | None:
        """Wait for a run; None if the time is up or the server has given up."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(deadline):
                while self.run is None and self.status is not ServerStatus.CRASHED:
                    await self.moved.wait()
        return self.run

    async def restart(self) -> None:
        """Restart the server: end it first if it runs; try again if it has given up.

        Two requests at a time cause one restart. It finishes even if the caller is cancelled: half a restart
        would leave no server at all.
        """
        if self._restarting is None or self._restarting.done():
            self._restarting = asyncio.ensure_future(self._restart())
        await asyncio.shield(self._restarting)

    def state(self) -> ServerState:
        run = self.run
        said = run.process.stderr_text().rpartition("\n")[2][-_TAIL:] if run else ""
        return ServerState(self.order.key, self.status, self.detail, run.process.pid if run else 0, said)

    async def close(self) -> None:
        if self._restarting is not None:
            await asyncio.wait({self._restarting})
        await self._supervisor.close()

    async def _restart(self) -> None:
        self._move(None, ServerStatus.STARTING)
        await self._supervisor.restart()

    def _lost(self, reason: str, is_given_up: bool) -> None:
        self._move(None, ServerStatus.CRASHED if is_given_up else ServerStatus.STARTING, reason)

    async def _once(self) -> str:
        """Run the server once; return why it ended."""
        order = self.order
        try:
            confinement = Confinement(network=order.network)
            process = await LspProcess.start(
                self._sandbox, order.argv, order.environment, Path(order.root), confinement
            )
        except (OSError, ToolError) as error:
            return f"it cannot be started: {error}"
        run = Run(process, order, self._listener)
        try:
            await run.begin(order)
            self.generation += 1
            self._supervisor.has_run = True
            self._move(run, ServerStatus.FRESH)
            await run.over()
            reason = "it exited unexpectedly"
        except (GoneError, NotAnsweredError, RefusedError) as error:
            reason = f"it failed to start: {error}"
        except asyncio.CancelledError:
            # Callers that still wait get "starting", which is not "clean".
            self.run, self.status = None, ServerStatus.STARTING
            await run.finish()
            raise
        await run.discard()
        said = stderr_tail(process.stderr_text())
        return f"{reason}. Its last output: {said}" if said else reason

    def _move(self, run: Run | None, status: ServerStatus, detail: str = "") -> None:
        self.run, self.status, self.detail = run, status, detail
        moved, self.moved = self.moved, asyncio.Event()
        moved.set()
        self._on_move()
        self._tell(StateChanged(self.order.key, status, detail, run.process.pid if run else 0))
