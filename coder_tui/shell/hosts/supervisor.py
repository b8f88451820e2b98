"""Restart processes that were lost: after which pauses, and when to give up."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from coder_tui.shell.hosts.link import EventHandler, HostLink, HostProgram, JsonObject, LinkLostError

_PAUSES = (1.0, 2.0, 4.0, 8.0, 30.0)
_MOST_LOSSES, _WITHIN = 5, 180.0
# A server that never started is unlikely to start later.
_MOST_FAILED_STARTS = 2


def _expect_no_event(event: str, data: JsonObject) -> None:
    raise ValueError(f"unexpected event: {event}")


async def _need_nothing(link: HostLink) -> None:
    """Prepare nothing: the process is ready at once."""


class HostSupervisor:
    """Starts a child process on first use, and again on the next use after it died.

    `prepare` sends the first requests to a new process.
    """

    def __init__(
        self,
        program: HostProgram,
        on_event: EventHandler = _expect_no_event,
        prepare: Callable[[HostLink], Awaitable[None]] = _need_nothing,
    ) -> None:
        self.program = program
        self._on_event = on_event
        self._prepare = prepare
        self._link: HostLink | None = None
        self._changing = asyncio.Lock()
        self._is_closed = False

    @property
    def link(self) -> HostLink | None:
        """The running process, or None."""
        return self._link if self._link is not None and self._link.is_alive else None

    @property
    def pid(self) -> int | None:
        return self.link.pid if self.link is not None else None

    async def ready(self) -> HostLink:
        """Return the running process. Raises OSError if it cannot start, `LinkLostError` once closed."""
        async with self._changing:
            if self._is_closed:
                raise LinkLostError
            if self._link is None or not self._link.is_alive:
                await self._end()
                self._link = await HostLink.start(self.program, self._on_event)
                await self._prepare(self._link)
            return self._link

    async def replace(self, program: HostProgram) -> None:
        """End the process. The next use starts `program` instead."""
        async with self._changing:
            self.program = program
            await self._end()

    async def close(self) -> None:
        """End the process with everything it started, and start no other."""
        self._is_closed = True
        async with self._changing:
            await self._end()

    async def _end(self) -> None:
        if self._link is not None:
            await self._link.close()
            self._link = None


class CrashSupervisor:
    """Keeps a server running: restarts it after a pause, and gives up after too many losses.

    `live` runs the server once. It returns why the server ended, or None if it must not be restarted.
    `report` gets the reason, and whether the supervisor gives up.
    """

    def __init__(
        self, live: Callable[[], Awaitable[str | None]], report: Callable[[str, bool], None]
    ) -> None:
        self.has_run = False
        """Whether the server ever started. The owner sets it."""
        self._live = live
        self._report = report
        self._losses: deque[float] = deque(maxlen=_MOST_LOSSES)
        self._living = asyncio.ensure_future(self._run())

    async def restart(self) -> None:
        """Restart from scratch, also after giving up. A running server is ended first."""
        await self.close()
        self._losses.clear()
        self._living = asyncio.ensure_future(self._run())

    async def close(self) -> None:
        """Cancel the current run, and wait until it has ended."""
        self._living.cancel()
        await asyncio.wait({self._living})

    async def _run(self) -> None:
        while (reason := await self._live()) is not None:
            now = asyncio.get_running_loop().time()
            self._losses.append(now)
            most = _MOST_LOSSES if self.has_run else _MOST_FAILED_STARTS
            is_given_up = len(self._losses) >= most and now - self._losses[-most] < _WITHIN
            self._report(reason, is_given_up)
            if is_given_up:
                return
            recent = sum(now - loss < _WITHIN for loss in self._losses)
            await asyncio.sleep(_PAUSES[min(recent, len(_PAUSES)) - 1])
