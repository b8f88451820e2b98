"""Supervises one server: starts it, restarts it when it is lost, passes calls on, and always ends it."""

import asyncio
import contextlib
import logging
import shutil
import sys
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path

from coder_tui.mcp.client import Connection, ServerGoneError, connected
from coder_tui.mcp.login import Login, LoginNeededError
from coder_tui.mcp.servers import write_hint
from coder_tui.mcp.wire import Answer, Failure, Offer, ServerOrder, ServerState, StateChanged, Transport
from coder_tui.protocol.errors import ToolError
from coder_tui.shell.hosts.server import ServerProcess, Spawned, stderr_tail
from coder_tui.shell.hosts.supervisor import CrashSupervisor
from coder_tui.shell.sandbox.confinement import Confinement
from coder_tui.shell.sandbox.sandbox import Sandbox
from coder_tui.tasks import finish_despite_cancel

log = logging.getLogger(__name__)
_HOW_TO_LOG_IN = "it needs a login: press l in /mcp, or run coder-tui mcp login {name}"
_LONGEST_LINE = 2**26
# Lists that change several times in a row are read once.
_QUIET = 0.2


class _Process(ServerProcess):
    """Writes its error output to the log, each line with the server's name."""

    label = ""

    def __init__(self, spawned: Spawned, held: ExitStack) -> None:
        self._rest = b""
        super().__init__(spawned, held)

    def on_stderr(self, piece: bytes) -> None:
        *lines, self._rest = (self._rest + piece)[-65_536:].split(b"\n")
        for line in lines:
            sys.stderr.write(f"[{self.label}] {line.decode('utf-8', 'replace')}\n")


class ServerSupervisor:
    """One task opens and closes the connection. `tell` is called on every change."""

    def __init__(self, order: ServerOrder, sandbox: Sandbox, tell: Callable[[StateChanged], None]) -> None:
        self._order = order
        self._sandbox = sandbox
        self._tell = tell
        self._connection: Connection | None = None
        self._logs_in = False
        self._lost = asyncio.Event()
        self._changed = asyncio.Event()
        self._supervisor = CrashSupervisor(self._live, self._report)

    async def ask(self, question: Callable[[Connection], Awaitable[Answer]]) -> Answer:
        """Ask the running server; if it is lost during the call, it is restarted."""
        connection = self._connection
        if connection is None:
            return Answer(failure=Failure.GONE, detail="it is not running")
        asking = asyncio.ensure_future(question(connection))
        ending = asyncio.ensure_future(connection.ended.wait())
        try:
            await asyncio.wait({asking, ending}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                # The SDK notices the end as well, a moment later.
                await asyncio.wait({asking}, timeout=1.0)
            if not asking.done():
                return Answer(failure=Failure.GONE, detail="it exited before it answered")
            answer = asking.result()
        finally:
            for task in (asking, ending):
                task.cancel()
            await asyncio.gather(asking, ending, return_exceptions=True)
        if answer.failure is Failure.GONE:
            self._lost.set()
        return answer

    async def restart(self, *, logs_in: bool = False) -> None:
        """Restart the server, whatever it does now."""
        await self._supervisor.close()
        self._supervisor.has_run, self._logs_in = False, logs_in
        await self._supervisor.restart()

    async def close(self) -> None:
        await self._supervisor.close()

    def _report(self, reason: str, is_given_up: bool) -> None:
        self._state(ServerState.FAILED if is_given_up else ServerState.STARTING, reason)

    async def _live(self) -> str | None:
        """Run the server once; return why it ended, or None if another run would end the same way."""
        self._state(ServerState.STARTING)
        try:
            return await self._once(Login(self._show if self._logs_in else None))
        except LoginNeededError:
            # No link here: nothing listens for the browser's answer.
            self._state(ServerState.NEEDS_LOGIN, _HOW_TO_LOG_IN.format(name=self._order.name))
        except FileNotFoundError as error:
            self._state(ServerState.FAILED, f"program not found: {error.filename or self._order.argv[0]}")
        return None

    async def _once(self, login: Login) -> str:
        """Connect once; return why the connection ended."""
        process = None
        try:
            process = await self._process()
            async with login.listening(), connected(self._order, process, login, self._changed.set) as link:
                return await self._serve(link, process)
        except (OSError, ToolError, ServerGoneError) as error:
            if isinstance(error, FileNotFoundError):
                raise
            return self._with_hint(_with_last_words(f"it cannot be started: {error}", process))
        except ExceptionGroup as error:
            log.exception("server %s", self._order.name)
            return _with_last_words(f"the connection was lost: {error.exceptions[0]}", process)
        finally:
            self._connection = None
            if process is not None:
                await finish_despite_cancel(process.end())

    async def _serve(self, connection: Connection, process: ServerProcess | None) -> str:
        offer = await connection.offer()
        self._connection, self._supervisor.has_run = connection, True
        self._lost.clear()
        pid = process.pid if process else 0
        self._state(ServerState.READY, pid=pid, offer=offer)
        watching = asyncio.ensure_future(self._watch(connection, pid))
        waits = [asyncio.ensure_future(event.wait()) for event in (connection.ended, self._lost)]
        try:
            await asyncio.wait({*waits, watching}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (*waits, watching):
                task.cancel()
            await asyncio.gather(*waits, watching, return_exceptions=True)
        return self._with_hint(_with_last_words("it exited unexpectedly", process))

    def _with_hint(self, reason: str) -> str:
        order = self._order
        hint = write_hint(order.name, reason) if order.argv and order.is_confined else ""
        return f"{reason}. {hint}" if hint else reason

    async def _watch(self, connection: Connection, pid: int) -> None:
        """Read the lists again whenever the server says that they changed; end when it cannot be asked."""
        hearing = asyncio.ensure_future(self._hear(connection))
        try:
            while True:
                await self._changed.wait()
                await asyncio.sleep(_QUIET)
                self._changed.clear()
                self._state(ServerState.READY, pid=pid, offer=await connection.offer())
        except ServerGoneError:
            return
        finally:
            hearing.cancel()
            await asyncio.gather(hearing, return_exceptions=True)

    async def _hear(self, connection: Connection) -> None:
        async with contextlib.aclosing(connection.changes()) as changes:
            async for _ in changes:
                self._changed.set()

    async def _process(self) -> ServerProcess | None:
        order = self._order
        if order.transport is not Transport.STDIO:
            return None
        # Checked here because a sandbox would start first and fail only then.
        if not await asyncio.to_thread(_is_there, order):
            raise FileNotFoundError(2, "no such program", order.argv[0])
        confinement = Confinement(network=order.network, folders=order.writable, is_lasting=True)
        process = await _Process.start(
            self._sandbox, order.argv, order.environment, Path(order.directory), confinement, _LONGEST_LINE
        )
        process.label = order.name
        return process

    def _show(self, link: str) -> None:
        self._state(ServerState.NEEDS_LOGIN, "open this link in a browser on this machine", link=link)

    def _state(
        self,
        state: ServerState,
        detail: str = "",
        *,
        pid: int = 0,
        offer: Offer | None = None,
        link: str = "",
    ) -> None:
        self._tell(StateChanged(self._order.name, state, detail, pid, offer or Offer(), link))


def _with_last_words(reason: str, process: ServerProcess | None) -> str:
    said = stderr_tail(process.stderr_text()) if process else ""
    return f"{reason}. Its last output: {said}" if said else reason


def _is_there(order: ServerOrder) -> bool:
    program = order.argv[0]
    found = shutil.which(program, path=order.environment.get("PATH", ""))
    return found is not None or Path(order.directory, program).is_file()
