"""Runs the language server host, and in it the servers that are needed."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TypeVar

from pydantic import TypeAdapter

from coder_tui.lsp.wire import Answered, Checked, Published, ServerOrder, ServerState, StateChanged
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.shell.hosts.link import HostLink, HostProgram, JsonObject, LinkLostError
from coder_tui.shell.hosts.side import HostOptions
from coder_tui.shell.hosts.supervisor import HostSupervisor
from coder_tui.tasks import BackgroundTasks

HOST = "coder_tui.lsp.host"
"""Never imported here: pygls is slow to load."""
_LOST = "the language server host exited unexpectedly; the next call starts it again"
T = TypeVar("T")
Hear = Callable[[Published | StateChanged], None]


class LspHostClient:
    """`hear` is called with everything that servers send unasked."""

    def __init__(self, options: HostOptions, hear: Hear) -> None:
        self._sandbox = options.sandbox
        self._hear = hear
        program = HostProgram(HOST, options.environment, options.log, options.redact)
        self._host = HostSupervisor(program, self._handle_event, self._begin)
        self._started: dict[str, ServerOrder] = {}
        self._opening = asyncio.Lock()
        self._preparing = BackgroundTasks()
        self._is_closed = False

    @property
    def pid(self) -> int | None:
        return self._host.pid

    @property
    def started(self) -> tuple[ServerOrder, ...]:
        return tuple(self._started.values())

    async def check(self, order: ServerOrder, **fields: object) -> Checked:
        """Return the server's report on a text; start the server if needed."""
        try:
            return _read(Checked, await self._request("check", order, **fields))
        except LinkLostError:
            return Checked(ServerStatus.CRASHED, detail=_LOST)

    async def ask(self, order: ServerOrder, **fields: object) -> Answered:
        try:
            return _read(Answered, await self._request("ask", order, **fields))
        except LinkLostError:
            return Answered(ServerStatus.CRASHED, detail=_LOST)

    async def tell(self, op: str, order: ServerOrder, **fields: object) -> None:
        """Send a message without an answer, unless the server was never started."""
        if (link := self._host.link) is not None and order.key in self._started:
            with contextlib.suppress(LinkLostError):
                await link.request(op, key=order.key, **fields)

    async def changed_on_disk(self, changes: list[tuple[str, int]]) -> None:
        if (link := self._host.link) is not None and self._started:
            with contextlib.suppress(LinkLostError):
                await link.request("disk", changes=changes)

    async def states(self) -> tuple[ServerState, ...]:
        """Return the states of all started servers."""
        if (link := self._host.link) is None:
            return ()
        try:
            return tuple(_read(ServerState, state) for state in await link.request("states"))
        except LinkLostError:
            return ()

    async def restart(self, order: ServerOrder) -> None:
        """End the server with this order's key and start it by the order."""
        if (link := self._host.link) is not None and order.key in self._started:
            self._started[order.key] = order
            with contextlib.suppress(LinkLostError):
                await link.request("restart", order=asdict(order))

    async def close(self) -> None:
        """Return when all servers are gone."""
        self._is_closed = True
        async with self._opening:
            await self._host.close()
            self._started.clear()

    async def _request(self, op: str, order: ServerOrder, **fields: object) -> Any:
        link = await self._ready(order)
        return await link.request(op, key=order.key, **fields)

    async def _ready(self, order: ServerOrder) -> HostLink:
        link = self._host.link
        if link is not None and not self._is_closed and self._started.get(order.key) == order:
            return link
        # Half a start cannot be undone, so it goes on even if the call that needs it is cancelled.
        return await asyncio.shield(self._preparing.start(self._prepare(order)))

    async def _prepare(self, order: ServerOrder) -> HostLink:
        async with self._opening:
            if self._is_closed:
                raise LinkLostError
            link = await self._host.ready()
            known = self._started.get(order.key)
            if known != order:
                # A running server would be started differently by now, for example with its checker.
                await link.request("restart" if known else "start", order=asdict(order))
                self._started[order.key] = order
            return link

    async def _begin(self, link: HostLink) -> None:
        self._started.clear()
        await link.request("begin", sandbox=asdict(self._sandbox))

    def _handle_event(self, event: str, data: JsonObject) -> None:
        self._hear(_read(Published, data) if event == "published" else _read(StateChanged, data))


_adapters: dict[type, TypeAdapter[Any]] = {}
"""Each is built when first needed: it takes a while, and most sessions start without a server."""


def _read(kind: type[T], data: object) -> T:
    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    read: T = _adapters[kind].validate_python(data)
    return read
