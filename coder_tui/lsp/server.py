"""One language server in one folder: started, restarted when it crashes, asked, and ended for certain.

A language server's process, whose messages are found whatever it prints around them.
"""

import asyncio
import contextlib
import logging
import re
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from coder_tui.lsp.client import LspClient
from coder_tui.lsp.conversation import Conversation, Listener, initialize_params
from coder_tui.lsp.peer import GoneError, NotAnsweredError, RefusedError
from coder_tui.lsp.wire import ServerOrder, ServerState, StateTold
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.protocol.errors import ToolError
from coder_tui.shell.hosts.server import ServerProcess, Spawned, last_words
from coder_tui.shell.sandbox.confinement import Confinement
from coder_tui.shell.sandbox.sandbox import Sandbox

_KEPT = 8_000
_CHUNK = 65_536
_LONGEST_MESSAGE = 2**26
_HEADER = re.compile(rb"Content-Length: *(\d+)", re.IGNORECASE)
_PLAIN = re.compile(rb"Content-Length: (\d+)\r\n")


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


class LspProcess(ServerProcess):
    def __init__(self, spawned: Spawned, held: ExitStack) -> None:
        super().__init__(spawned, held)
        self.reader = TolerantReader(self.stdout)

    def said(self) -> str:
        """With the last of what it printed where only messages belong."""
        return (super().said() + self.reader.noise.decode("utf-8", "replace")).strip()


log = logging.getLogger(__name__)
_PAUSES = (1.0, 2.0, 4.0, 8.0, 30.0)
_MOST_CRASHES, _WITHIN = 5, 180.0
# One that never came up is not likely to.
_MOST_FAILED_STARTS = 2
_INITIALIZE = 45.0
_SHUTDOWN = 2.0
_EXIT = 1.0
_TAIL = 600


class Run:
    """One life of the server's process, from its first word to its last."""

    def __init__(self, process: LspProcess, order: ServerOrder, listener: Listener) -> None:
        self.process = process
        self.conversation = Conversation(order, listener)
        self.client = LspClient(process.reader, process.writer, self.conversation)

    async def begin(self, order: ServerOrder) -> None:
        result = await self._initialized(initialize_params(order))
        self.conversation.begin(result)
        self.client.notify("initialized", {})
        if order.settings:
            # Sent only where there are some: an empty table makes some servers forget their own.
            self.client.notify("workspace/didChangeConfiguration", {"settings": order.settings})

    async def _initialized(self, params: Any) -> Any:
        """The answer; the process's end, or something that is no message, may come first."""
        asking = asyncio.ensure_future(self.client.request("initialize", params, _INITIALIZE))
        exiting = asyncio.ensure_future(self.process.exited())
        garbling = asyncio.ensure_future(self.conversation.has_garbled.wait())
        tasks: tuple[asyncio.Future[Any], ...] = (asking, exiting, garbling)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                return asking.result()
            if exiting.done():
                raise GoneError(f"it ended with exit code {exiting.result()}")
            raise GoneError(f"it sent what is no message: {self.conversation.trouble}")
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
        """Politely first: shutdown, exit, then by force."""
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
    """Keeps a server running: a crash is followed by a pause and a new start, too many of them by none."""

    def __init__(
        self,
        order: ServerOrder,
        sandbox: Sandbox,
        listener: Listener,
        tell: Callable[[StateTold], None],
        on_move: Callable[[], None],
    ) -> None:
        self.order = order
        self.generation = 0
        self.run: Run | None = None
        """The run that answers; None while it starts, pauses or has given up."""
        self.status = ServerStatus.STARTING
        self.detail = ""
        self.moved = asyncio.Event()
        """Set, and replaced, when any of these changes."""
        self._sandbox = sandbox
        self._listener = listener
        self._tell = tell
        self._on_move = on_move
        self._crashes: deque[float] = deque(maxlen=_MOST_CRASHES)
        self._restarting: asyncio.Task[None] | None = None
        self._living = asyncio.ensure_future(self._live())

    async def running(self, deadline: float) -> Run | None:
        """The run, as soon as there is one; None when the time is up or it has given up."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(deadline):
                while self.run is None and self.status is not ServerStatus.CRASHED:
                    await self.moved.wait()
        return self.run

    async def restart(self) -> None:
        """Begin anew: one that runs is ended first, one that has given up tries again.

        Wished for twice at a time it is done once; and done to its end though nobody waits for it any more,
        as half of it would leave no server at all.
        """
        if self._restarting is None or self._restarting.done():
            self._restarting = asyncio.ensure_future(self._begin_anew())
        await asyncio.shield(self._restarting)

    def state(self) -> ServerState:
        run = self.run
        said = run.process.said().rpartition("\n")[2][-_TAIL:] if run else ""
        return ServerState(self.order.key, self.status, self.detail, run.process.pid if run else 0, said)

    async def close(self) -> None:
        if self._restarting is not None:
            await asyncio.wait({self._restarting})
        await self._end()

    async def _begin_anew(self) -> None:
        self._move(None, ServerStatus.STARTING)
        await self._end()
        self._crashes.clear()
        self._living = asyncio.ensure_future(self._live())

    async def _end(self) -> None:
        self._living.cancel()
        await asyncio.wait({self._living})

    async def _live(self) -> None:
        while True:
            reason = await self._once()
            now = asyncio.get_running_loop().time()
            self._crashes.append(now)
            most = _MOST_CRASHES if self.generation else _MOST_FAILED_STARTS
            if len(self._crashes) >= most and now - self._crashes[-most] < _WITHIN:
                self._move(None, ServerStatus.CRASHED, reason)
                return
            self._move(None, ServerStatus.STARTING, reason)
            recent = sum(now - crash < _WITHIN for crash in self._crashes)
            await asyncio.sleep(_PAUSES[min(recent, len(_PAUSES)) - 1])

    async def _once(self) -> str:
        """One life; returns why it ended."""
        order = self.order
        try:
            confinement = Confinement(network=order.network)
            process = await LspProcess.start(
                self._sandbox, order.argv, order.environment, Path(order.root), confinement
            )
        except (OSError, ToolError) as error:
            return f"it does not start: {error}"
        run = Run(process, order, self._listener)
        try:
            await run.begin(order)
            self.generation += 1
            self._move(run, ServerStatus.FRESH)
            await run.over()
            reason = "it ended by itself"
        except (GoneError, NotAnsweredError, RefusedError) as error:
            reason = f"it did not start up: {error}"
        except asyncio.CancelledError:
            # Whoever still waits learns that it does not know, which is not clean.
            self.run, self.status = None, ServerStatus.STARTING
            await run.finish()
            raise
        await run.discard()
        said = last_words(process.said())
        return f"{reason}. It said last: {said}" if said else reason

    def _move(self, run: Run | None, status: ServerStatus, detail: str = "") -> None:
        self.run, self.status, self.detail = run, status, detail
        moved, self.moved = self.moved, asyncio.Event()
        moved.set()
        self._on_move()
        self._tell(StateTold(self.order.key, status, detail, run.process.pid if run else 0))
