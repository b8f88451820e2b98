"""Owns one server: starts it, restarts it when it is lost, hands calls to it, and ends it for certain."""

import asyncio
import contextlib
import logging
import shutil
import sys
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path

from coder_tui.mcp.client import Connection, ServerGoneError, connected
from coder_tui.mcp.login import Login, LoginNeededError
from coder_tui.mcp.servers import write_hint
from coder_tui.mcp.wire import Answer, Failure, Offer, ServerOrder, ServerState, StateTold, Transport
from coder_tui.protocol.errors import ToolError
from coder_tui.shell.hosts.server import ServerProcess, Spawned, last_words
from coder_tui.shell.sandbox.confinement import Confinement
from coder_tui.shell.sandbox.sandbox import Sandbox

log = logging.getLogger(__name__)
_PAUSES = (1.0, 2.0, 4.0, 8.0, 30.0)
_MOST_LOSSES, _WITHIN = 5, 180.0
# One that never came up is not likely to.
_MOST_FAILED_STARTS = 2
_HOW_TO_LOG_IN = "it wants a login: l on the list of /mcp, or coder-tui mcp login {name}"
_LONGEST_LINE = 2**26
# Lists that change again and again are asked for once.
_QUIET = 0.2


class _Process(ServerProcess):
    """Its error output goes to the log, line by line under its name."""

    label = ""

    def __init__(self, spawned: Spawned, held: ExitStack) -> None:
        self._rest = b""
        super().__init__(spawned, held)

    def hear(self, piece: bytes) -> None:
        *lines, self._rest = (self._rest + piece)[-65_536:].split(b"\n")
        for line in lines:
            sys.stderr.write(f"[{self.label}] {line.decode('utf-8', 'replace')}\n")


class Owner:
    """One task enters and leaves the connection. `tell` hears of every change."""

    def __init__(self, order: ServerOrder, sandbox: Sandbox, tell: Callable[[StateTold], None]) -> None:
        self._order = order
        self._sandbox = sandbox
        self._tell = tell
        self._connection: Connection | None = None
        self._has_run = False
        self._lost = asyncio.Event()
        self._changed = asyncio.Event()
        self._losses: deque[float] = deque(maxlen=_MOST_LOSSES)
        self._living = asyncio.ensure_future(self._live())

    async def ask(self, question: Callable[[Connection], Awaitable[Answer]]) -> Answer:
        """The answer of the server that runs now; one that is lost while it is asked is started anew."""
        connection = self._connection
        if connection is None:
            return Answer(failure=Failure.GONE, detail="it does not run")
        asking = asyncio.ensure_future(question(connection))
        ending = asyncio.ensure_future(connection.ended.wait())
        try:
            await asyncio.wait({asking, ending}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                # The SDK hears of the end as well, a moment later.
                await asyncio.wait({asking}, timeout=1.0)
            if not asking.done():
                return Answer(failure=Failure.GONE, detail="it ended before it answered")
            answer = asking.result()
        finally:
            for task in (asking, ending):
                task.cancel()
            await asyncio.gather(asking, ending, return_exceptions=True)
        if answer.failure is Failure.GONE:
            self._lost.set()
        return answer

    async def restart(self, *, logs_in: bool = False) -> None:
        """From the beginning, whatever it does now."""
        await self.close()
        self._losses.clear()
        self._has_run = False
        self._living = asyncio.ensure_future(self._live(logs_in=logs_in))

    async def close(self) -> None:
        self._living.cancel()
        await asyncio.wait({self._living})

    async def _live(self, *, logs_in: bool = False) -> None:
        while True:
            self._state(ServerState.STARTING)
            try:
                reason = await self._once(Login(self._show if logs_in else None))
            except LoginNeededError:
                # An address that nobody waits at the end of would lead nowhere.
                self._state(ServerState.NEEDS_LOGIN, _HOW_TO_LOG_IN.format(name=self._order.name))
                return
            except FileNotFoundError as error:
                self._state(
                    ServerState.FAILED, f"there is no program {error.filename or self._order.argv[0]}"
                )
                return
            now = asyncio.get_running_loop().time()
            self._losses.append(now)
            most = _MOST_LOSSES if self._has_run else _MOST_FAILED_STARTS
            if len(self._losses) >= most and now - self._losses[-most] < _WITHIN:
                self._state(ServerState.FAILED, reason)
                return
            self._state(ServerState.STARTING, reason)
            recent = sum(now - loss < _WITHIN for loss in self._losses)
            await asyncio.sleep(_PAUSES[min(recent, len(_PAUSES)) - 1])

    async def _once(self, login: Login) -> str:
        """One life; returns why it ended."""
        process = None
        try:
            process = await self._process()
            async with login.listening(), connected(self._order, process, login, self._changed.set) as link:
                return await self._serve(link, process)
        except (OSError, ToolError, ServerGoneError) as error:
            if isinstance(error, FileNotFoundError):
                raise
            return self._with_hint(_with_last_words(f"it does not start: {error}", process))
        except ExceptionGroup as error:
            log.exception("server %s", self._order.name)
            return _with_last_words(f"it was lost: {error.exceptions[0]}", process)
        finally:
            self._connection = None
            if process is not None:
                await asyncio.shield(process.end())

    async def _serve(self, connection: Connection, process: ServerProcess | None) -> str:
        offer = await connection.offer()
        self._connection, self._has_run = connection, True
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
        return self._with_hint(_with_last_words("it ended by itself", process))

    def _with_hint(self, reason: str) -> str:
        order = self._order
        hint = write_hint(order.name, reason) if order.argv and order.is_confined else ""
        return f"{reason}. {hint}" if hint else reason

    async def _watch(self, connection: Connection, pid: int) -> None:
        """Ask again whenever the server says that its lists are others; ends when it cannot be asked."""
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
        # A sandbox would start, and only then miss it.
        if not await asyncio.to_thread(_is_there, order):
            raise FileNotFoundError(2, "no such program", order.argv[0])
        confinement = Confinement(network=order.network, folders=order.writable, is_lasting=True)
        process = await _Process.start(
            self._sandbox, order.argv, order.environment, Path(order.directory), confinement, _LONGEST_LINE
        )
        process.label = order.name
        return process

    def _show(self, link: str) -> None:
        self._state(ServerState.NEEDS_LOGIN, "go there with a browser on this machine", link=link)

    def _state(
        self,
        state: ServerState,
        detail: str = "",
        *,
        pid: int = 0,
        offer: Offer | None = None,
        link: str = "",
    ) -> None:
        self._tell(StateTold(self._order.name, state, detail, pid, offer or Offer(), link))


def _with_last_words(reason: str, process: ServerProcess | None) -> str:
    said = last_words(process.said()) if process else ""
    return f"{reason}. It said last: {said}" if said else reason


def _is_there(order: ServerOrder) -> bool:
    program = order.argv[0]
    found = shutil.which(program, path=order.environment.get("PATH", ""))
    return found is not None or Path(order.directory, program).is_file()
