"""All MCP servers of a session, as tools and screens see them: states, calls, prompts, resources."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Self

from pydantic import TypeAdapter

from coder_tui.config.mcp_files import FoundServer
from coder_tui.mcp.wire import Answer, Failure, JsonObject, Offer, ServerOrder, ServerState, StateTold
from coder_tui.shell.hosts.link import HostLink, LinkLostError
from coder_tui.shell.hosts.log import HostLog
from coder_tui.shell.hosts.options import HostOptions, SandboxOrder
from coder_tui.text.redact import Redactor

HOST = "coder_tui.mcp.host"
"""Never imported here: the SDK takes seconds to load."""
_LOST = "the process that speaks to MCP servers ended"
_MOST_LOSSES = 3
_QUICK_SECONDS = 60.0
_PATIENCE = 10.0
"""Seconds that a call waits for a server that is being started."""
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Known:
    """A server that was found: how to reach it, or why that cannot be known."""

    found: FoundServer
    order: ServerOrder | None
    problem: str = ""
    is_off: bool = False

    @property
    def name(self) -> str:
        return self.found.name


@dataclass(frozen=True, slots=True)
class ServerView:
    """How a server stands, for those who show it or take what it offers."""

    known: Known
    state: ServerState
    detail: str = ""
    offer: Offer = field(default_factory=Offer)
    pid: int = 0
    link: str = ""

    @property
    def name(self) -> str:
        return self.known.name


class McpPool:
    """Nothing runs before `start`. Nothing here raises for a server: an answer says what went wrong."""

    def __init__(self, servers: tuple[Known, ...], options: HostOptions) -> None:
        self._options = options
        self._views = {known.name: _first_view(known) for known in servers}
        self._link: HostLink | None = None
        self._opening = asyncio.Lock()
        self._numbers = count(1)
        self._progress: dict[int, Progress] = {}
        self._listeners: list[Callable[[], None]] = []
        self._moved = asyncio.Event()
        self._beginning: asyncio.Task[None] | None = None
        self._is_closed = False
        self._losses = 0

    @classmethod
    def empty(cls) -> Self:
        """For a session that has no servers."""
        sandbox = SandboxOrder("none", "", "off", (), (), "", "")
        return cls((), HostOptions(sandbox, {}, Path(), Redactor({})))

    @property
    def views(self) -> tuple[ServerView, ...]:
        return tuple(self._views.values())

    @property
    def pid(self) -> int | None:
        """Of the process that speaks to the servers, while there is one."""
        return self._link.pid if self._link else None

    def view(self, name: str) -> ServerView | None:
        return self._views.get(name)

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Hear of every change; what is returned ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def start(self) -> None:
        """Begin in the background; nobody waits for it."""
        if self._beginning is None and any(view.state is ServerState.STARTING for view in self.views):
            self._beginning = asyncio.ensure_future(self._begin())

    @property
    def first_starts(self) -> tuple[str, ...]:
        """Those that have not answered yet since they were started."""
        starting = (view for view in self.views if view.state is ServerState.STARTING)
        return tuple(view.name for view in starting if not view.detail)

    async def settled(self, seconds: float) -> bool:
        """Wait until no server is starting for the first time; whether that came in time."""
        try:
            async with asyncio.timeout(seconds):
                while self.first_starts:
                    await self._moved.wait()
        except TimeoutError:
            return False
        return True

    async def call(
        self, server: str, tool: str, arguments: JsonObject, seconds: float, progress: Progress
    ) -> Answer:
        number = next(self._numbers)
        self._progress[number] = progress
        try:
            fields = {"tool": tool, "arguments": arguments, "call": number}
            return await self._ask("call", server, seconds, **fields)
        finally:
            del self._progress[number]

    async def prompt(self, server: str, name: str, arguments: dict[str, str]) -> Answer:
        return await self._ask("prompt", server, _QUICK_SECONDS, name=name, arguments=arguments)

    async def read(self, server: str, uri: str) -> Answer:
        return await self._ask("read", server, _QUICK_SECONDS, uri=uri)

    async def restart(self, name: str, *, logs_in: bool = False) -> None:
        """From the beginning, also one that is off or has given up."""
        view = self._views[name]
        if view.known.order is None:
            return
        was_off = view.state is ServerState.OFF
        self._put(replace(view, state=ServerState.STARTING, detail="", offer=Offer(), pid=0, link=""))
        try:
            link = await self._ready()
            if was_off:
                await link.request("start", order=asdict(view.known.order))
            else:
                await link.request("restart", server=name, logs_in=logs_in)
        except LinkLostError:
            self._lost()

    async def stop(self, name: str) -> None:
        """Off for this session."""
        view = self._views[name]
        if self._link is not None and self._link.is_alive:
            try:
                await self._link.request("stop", server=name)
            except LinkLostError:
                self._lost()
        self._put(ServerView(view.known, ServerState.OFF, "switched off in this session"))

    async def close(self) -> None:
        """Return when no server is left."""
        self._is_closed = True
        if self._beginning is not None:
            self._beginning.cancel()
            await asyncio.wait({self._beginning})
        async with self._opening:
            if self._link is not None:
                await self._link.close()
                self._link = None

    async def _begin(self) -> None:
        try:
            await self._ready()
        except (LinkLostError, OSError):
            self._beginning = None
            self._lost()

    async def _ask(self, op: str, server: str, seconds: float, **fields: object) -> Answer:
        await self._until_started(server, min(seconds, _PATIENCE))
        view = self._views.get(server)
        if view is None or view.state is not ServerState.READY:
            told = _why_not(view) if view else "there is no such server"
            return Answer(failure=Failure.GONE, detail=told)
        try:
            link = await self._ready()
            answered = await link.request(op, server=server, seconds=seconds, **fields)
        except LinkLostError:
            self._lost()
            return Answer(failure=Failure.GONE, detail=_LOST)
        return _answers().validate_python(answered)

    async def _until_started(self, server: str, seconds: float) -> None:
        """One that was just lost is back in a moment, mostly."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while (view := self._views.get(server)) and view.state is ServerState.STARTING:
                    await self._moved.wait()

    async def _ready(self) -> HostLink:
        async with self._opening:
            if self._is_closed:
                raise LinkLostError
            if self._link is None or not self._link.is_alive:
                await self._open()
            assert self._link is not None
            return self._link

    async def _open(self) -> None:
        if self._link is not None:
            await self._link.close()
        options = self._options
        log = await asyncio.to_thread(HostLog, options.log, options.redact)
        self._link = await HostLink.start(HOST, options.environment, log, self._heard)
        await self._link.request("begin", sandbox=asdict(options.sandbox))
        for view in self.views:
            if view.known.order is not None and view.state is not ServerState.OFF:
                await self._link.request("start", order=asdict(view.known.order))

    def _lost(self) -> None:
        """The process is gone, and all servers with it: both begin anew, unless that happens too often."""
        self._losses += 1
        goes_on = self._losses <= _MOST_LOSSES and not self._is_closed
        state = ServerState.STARTING if goes_on else ServerState.FAILED
        for view in self.views:
            if view.state in (ServerState.READY, ServerState.STARTING):
                self._put(ServerView(view.known, state, _LOST))
        if goes_on and (self._beginning is None or self._beginning.done()):
            self._beginning = asyncio.ensure_future(self._begin())

    def _heard(self, event: str, told: JsonObject) -> None:
        if event == "progress":
            if (progress := self._progress.get(told["call"])) is not None:
                progress(_progress_words(told["done"], told["total"], told["message"]))
            return
        state = _states().validate_python(told)
        view = self._views.get(state.name)
        if view is not None and view.state is not ServerState.OFF:
            detail = self._options.redact(state.detail)
            made = ServerView(view.known, state.state, detail, state.offer, state.pid, state.link)
            self._put(made)

    def _put(self, view: ServerView) -> None:
        self._views[view.name] = view
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()
        for listener in tuple(self._listeners):
            listener()


def _first_view(known: Known) -> ServerView:
    if known.is_off:
        return ServerView(known, ServerState.OFF, known.problem or "switched off in the settings")
    if known.order is None:
        return ServerView(known, ServerState.FAILED, known.problem)
    return ServerView(known, ServerState.STARTING)


def _why_not(view: ServerView) -> str:
    return f"it is not ready: {view.state}{f', {view.detail}' if view.detail else ''}"


def _progress_words(done: float, total: float | None, message: str) -> str:
    words = f"{done:g} of {total:g}" if total else f"{done:g}"
    return f"{words}  {message}".rstrip() + "\n"


# Built on first need: each takes a while, and most sessions have no server.
@cache
def _answers() -> TypeAdapter[Answer]:
    return TypeAdapter(Answer)


@cache
def _states() -> TypeAdapter[StateTold]:
    return TypeAdapter(StateTold)
