"""Keeps the process that speaks to language servers, and the servers in it, running when they are needed."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from coder_tui.lsp.wire import Answered, Checked, JsonObject, Published, ServerOrder, ServerState, StateTold
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.shell.hosts.link import HostLink, LinkLostError
from coder_tui.shell.hosts.log import HostLog
from coder_tui.shell.hosts.options import HostOptions

HOST = "coder_tui.lsp.host"
"""Never imported here: pygls is slow to load."""
_LOST = "the process that speaks to language servers ended; it starts anew with the next call"
Hear = Callable[[Published | StateTold], None]


class Hosting:
    """`hear` gets all that servers say by themselves."""

    def __init__(self, options: HostOptions, hear: Hear) -> None:
        self._options = options
        self._hear = hear
        self._link: HostLink | None = None
        self._started: dict[str, ServerOrder] = {}
        self._opening = asyncio.Lock()
        self._preparing: set[asyncio.Future[HostLink]] = set()
        self._is_closed = False

    @property
    def pid(self) -> int | None:
        return self._link.pid if self._link else None

    @property
    def started(self) -> tuple[ServerOrder, ...]:
        return tuple(self._started.values())

    async def check(self, order: ServerOrder, **fields: object) -> Checked:
        """What the server says of a text; starts it where it does not run."""
        try:
            return _checked().validate_python(await self._request("check", order, **fields))
        except LinkLostError:
            return Checked(ServerStatus.CRASHED, detail=_LOST)

    async def ask(self, order: ServerOrder, **fields: object) -> Answered:
        try:
            return _answered().validate_python(await self._request("ask", order, **fields))
        except LinkLostError:
            return Answered(ServerStatus.CRASHED, detail=_LOST)

    async def tell(self, op: str, order: ServerOrder, **fields: object) -> None:
        """What needs no answer; a server that does not run has nothing to be told."""
        if self._link is not None and order.key in self._started:
            try:
                await self._link.request(op, key=order.key, **fields)
            except LinkLostError:
                return

    async def changed_on_disk(self, changes: list[tuple[str, int]]) -> None:
        if self._link is not None and self._link.is_alive and self._started:
            try:
                await self._link.request("disk", changes=changes)
            except LinkLostError:
                return

    async def states(self) -> tuple[ServerState, ...]:
        """Of all that were started."""
        if self._link is None or not self._link.is_alive:
            return ()
        try:
            return _states().validate_python(await self._link.request("states"))
        except LinkLostError:
            return ()

    async def restart(self, order: ServerOrder) -> None:
        """End the server of this order's key and start it as the order says."""
        if self._link is not None and order.key in self._started:
            self._started[order.key] = order
            with contextlib.suppress(LinkLostError):
                await self._link.request("restart", order=asdict(order))

    async def close(self) -> None:
        """Return when all servers are gone."""
        self._is_closed = True
        async with self._opening:
            if self._link is not None:
                await self._link.close()
                self._link = None
                self._started.clear()

    async def _request(self, op: str, order: ServerOrder, **fields: object) -> Any:
        link = await self._ready(order)
        return await link.request(op, key=order.key, **fields)

    async def _ready(self, order: ServerOrder) -> HostLink:
        link = self._link
        if (
            link is not None
            and link.is_alive
            and not self._is_closed
            and self._started.get(order.key) == order
        ):
            return link
        # Half a start could not be taken back, so it goes on though the call that wanted it was cancelled.
        preparing = asyncio.ensure_future(self._prepare(order))
        self._preparing.add(preparing)
        preparing.add_done_callback(self._preparing.discard)
        return await asyncio.shield(preparing)

    async def _prepare(self, order: ServerOrder) -> HostLink:
        async with self._opening:
            if self._is_closed:
                raise LinkLostError
            if self._link is None or not self._link.is_alive:
                await self._open()
            assert self._link is not None
            known = self._started.get(order.key)
            if known != order:
                # One that runs was found to be started otherwise by now: its checker was installed, say.
                await self._link.request("restart" if known else "start", order=asdict(order))
                self._started[order.key] = order
            return self._link

    async def _open(self) -> None:
        if self._link is not None:
            await self._link.close()
        self._started.clear()
        log = await asyncio.to_thread(HostLog, self._options.log, self._options.redact)
        self._link = await HostLink.start(HOST, self._options.environment, log, self._heard)
        await self._link.request("begin", sandbox=asdict(self._options.sandbox))

    def _heard(self, event: str, told: JsonObject) -> None:
        self._hear((_published() if event == "published" else _state()).validate_python(told))


# Built on first need: each takes a while, and most sessions begin without a server.
@cache
def _checked() -> TypeAdapter[Checked]:
    return TypeAdapter(Checked)


@cache
def _answered() -> TypeAdapter[Answered]:
    return TypeAdapter(Answered)


@cache
def _published() -> TypeAdapter[Published]:
    return TypeAdapter(Published)


@cache
def _state() -> TypeAdapter[StateTold]:
    return TypeAdapter(StateTold)


@cache
def _states() -> TypeAdapter[tuple[ServerState, ...]]:
    return TypeAdapter(tuple[ServerState, ...])
