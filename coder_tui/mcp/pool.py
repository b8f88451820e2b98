"""All MCP servers of a session: their states, calls, prompts and resources."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from itertools import count

from pydantic import TypeAdapter

from coder_tui.config.mcp_files import FoundServer
from coder_tui.mcp.wire import Answer, Failure, Offer, ServerOrder, ServerState, StateChanged
from coder_tui.shell.hosts.link import HostLink, HostProgram, JsonObject, LinkLostError
from coder_tui.shell.hosts.side import HostOptions
from coder_tui.shell.hosts.supervisor import HostSupervisor

HOST = "coder_tui.mcp.host"
"""Never imported here: the SDK takes seconds to load."""
_LOST = "the MCP host exited unexpectedly"
_MOST_LOSSES = 3
_QUICK_SECONDS = 60.0
_PATIENCE = 10.0
"""Seconds that a call waits for a server that is starting."""
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class KnownServer:
    """A configured server: how to reach it, or why it cannot be reached."""

    found: FoundServer
    order: ServerOrder | None
    problem: str = ""
    is_off: bool = False

    @property
    def name(self) -> str:
        return self.found.name


@dataclass(frozen=True, slots=True)
class ServerView:
    """A server's state and what it offers."""

    known: KnownServer
    state: ServerState
    detail: str = ""
    offer: Offer = field(default_factory=Offer)
    pid: int = 0
    link: str = ""

    @property
    def name(self) -> str:
        return self.known.name


class McpPool:
    """Nothing runs before `start`. A failing server raises nothing: the answer says what went wrong."""

    def __init__(self, servers: tuple[KnownServer, ...], options: HostOptions) -> None:
        self._options = options
        self._views = {known.name: _first_view(known) for known in servers}
        program = HostProgram(HOST, options.environment, options.log, options.redact)
        self._host = HostSupervisor(program, self._handle_event, self._start_all)
        self._numbers = count(1)
        self._progress: dict[int, Progress] = {}
        self._listeners: list[Callable[[], None]] = []
        self._moved = asyncio.Event()
        self._beginning: asyncio.Task[None] | None = None
        self._is_closed = False
        self._losses = 0

    @property
    def views(self) -> tuple[ServerView, ...]:
        return tuple(self._views.values())

    @property
    def pid(self) -> int | None:
        """The process id of the MCP host, while it runs."""
        return self._host.pid

    def view(self, name: str) -> ServerView | None:
        return self._views.get(name)

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` on every change; call the result to stop."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def start(self) -> None:
        """Start the servers in the background."""
        if self._beginning is None and any(view.state is ServerState.STARTING for view in self.views):
            self._beginning = asyncio.ensure_future(self._begin())

    @property
    def first_starts(self) -> tuple[str, ...]:
        """The servers that have not answered yet since their first start."""
        starting = (view for view in self.views if view.state is ServerState.STARTING)
        return tuple(view.name for view in starting if not view.detail)

    async def settled(self, seconds: float) -> bool:
        """Wait until every first start is over; return whether that happened in time."""
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
        """Restart a server, even one that is off or has given up."""
        view = self._views[name]
        if view.known.order is None:
            return
        was_off = view.state is ServerState.OFF
        self._put(replace(view, state=ServerState.STARTING, detail="", offer=Offer(), pid=0, link=""))
        try:
            link = await self._host.ready()
            if was_off:
                await link.request("start", order=asdict(view.known.order))
            else:
                await link.request("restart", server=name, logs_in=logs_in)
        except LinkLostError:
            self._lost()

    async def stop(self, name: str) -> None:
        """Switch a server off for this session."""
        view = self._views[name]
        if (link := self._host.link) is not None:
            try:
                await link.request("stop", server=name)
            except LinkLostError:
                self._lost()
        self._put(ServerView(view.known, ServerState.OFF, "switched off for this session"))

    async def close(self) -> None:
        """Return when no server is left."""
        self._is_closed = True
        if self._beginning is not None:
            self._beginning.cancel()
            await asyncio.wait({self._beginning})
        await self._host.close()

    async def _begin(self) -> None:
        try:
            await self._host.ready()
        except (LinkLostError, OSError):
            self._beginning = None
            self._lost()

    async def _ask(self, op: str, server: str, seconds: float, **fields: object) -> Answer:
        await self._until_started(server, min(seconds, _PATIENCE))
        view = self._views.get(server)
        if view is None or view.state is not ServerState.READY:
            reason = "there is no such server"
            if view is not None:
                reason = f"it is not ready: {', '.join(filter(None, (view.state, view.detail)))}"
            return Answer(failure=Failure.GONE, detail=reason)
        try:
            link = await self._host.ready()
            answered = await link.request(op, server=server, seconds=seconds, **fields)
        except LinkLostError:
            self._lost()
            return Answer(failure=Failure.GONE, detail=_LOST)
        return _answers().validate_python(answered)

    async def _until_started(self, server: str, seconds: float) -> None:
        """Wait while the server starts: one that was just lost is usually back in a moment."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while (view := self._views.get(server)) and view.state is ServerState.STARTING:
                    await self._moved.wait()

    async def _start_all(self, link: HostLink) -> None:
        await link.request("begin", sandbox=asdict(self._options.sandbox))
        for view in self.views:
            if view.known.order is not None and view.state is not ServerState.OFF:
                await link.request("start", order=asdict(view.known.order))

    def _lost(self) -> None:
        """Restart the host and all its servers, unless the host was lost too often."""
        self._losses += 1
        goes_on = self._losses <= _MOST_LOSSES and not self._is_closed
        state = ServerState.STARTING if goes_on else ServerState.FAILED
        for view in self.views:
            if view.state in (ServerState.READY, ServerState.STARTING):
                self._put(ServerView(view.known, state, _LOST))
        if goes_on and (self._beginning is None or self._beginning.done()):
            self._beginning = asyncio.ensure_future(self._begin())

    def _handle_event(self, event: str, data: JsonObject) -> None:
        if event == "progress":
            if (progress := self._progress.get(data["call"])) is not None:
                progress(_format_progress(data["done"], data["total"], data["message"]))
            return
        state = _states().validate_python(data)
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


def _first_view(known: KnownServer) -> ServerView:
    if known.is_off:
        return ServerView(known, ServerState.OFF, known.problem or "switched off in the settings")
    if known.order is None:
        return ServerView(known, ServerState.FAILED, known.problem)
    return ServerView(known, ServerState.STARTING)


def _format_progress(done: float, total: float | None, message: str) -> str:
    words = f"{done:g} of {total:g}" if total else f"{done:g}"
    return f"{words}  {message}".rstrip() + "\n"


# Built when first needed: each takes a while, and most sessions have no server.
@cache
def _answers() -> TypeAdapter[Answer]:
    return TypeAdapter(Answer)


@cache
def _states() -> TypeAdapter[StateChanged]:
    return TypeAdapter(StateChanged)
