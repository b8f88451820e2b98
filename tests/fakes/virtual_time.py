"""Runs the real app in time that passes only when all work is done: exact gaps between keys, no waiting."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from time import perf_counter
from types import SimpleNamespace
from typing import Any, TypeVar
from unittest.mock import patch

from textual import _time

Result = TypeVar("Result")
BEGIN = 1000.0
A_MOMENT = 0.003
A_BREATH = 0.02
_OWN_FILES = 1
"""The loop's own pipe, by which threads wake it."""
_TIMED = tuple(f"coder_tui.ui.{name}.time" for name in ("app", "requests.trust", "session_switch", "replay"))


class VirtualClock:
    """Seconds since an arbitrary moment."""

    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> float:
        # Code that polls until a moment must reach it.
        self.now += 1e-6
        return self.now


class _Threads(ThreadPoolExecutor):
    """Knows whether something is at work: its time is real, so virtual time has to wait for it."""

    def __init__(self) -> None:
        super().__init__(max_workers=4)
        self._at_work: set[Future[Any]] = set()
        self._since = perf_counter()

    @property
    def are_at_work(self) -> bool:
        # What a thread has done reaches the loop a moment after it is done.
        return bool(self._at_work) or perf_counter() - self._since < A_MOMENT

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        work = super().submit(fn, *args, **kwargs)
        self._at_work.add(work)
        work.add_done_callback(self._done)
        return work

    def _done(self, work: Future[Any]) -> None:
        self._since = perf_counter()
        self._at_work.discard(work)


class _Jumping(selectors.DefaultSelector):
    """If the loop would wait for a timer, it is that time already.

    Other programs and servers need real time: while one is connected, time passes as it does for them.
    """

    def __init__(self, clock: VirtualClock, threads: _Threads) -> None:
        super().__init__()
        self._clock = clock
        self._threads = threads

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            return super().select(None)
        if timeout > 0 and self._threads.are_at_work:
            return super().select(A_MOMENT)
        if timeout > 0 and len(self.get_map()) > _OWN_FILES:
            began = perf_counter()
            ready = super().select(timeout)
            self._clock.now += perf_counter() - began
            return ready
        ready = super().select(0)
        if not ready and timeout > 0:
            self._clock.now += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self, clock: VirtualClock) -> None:
        threads = _Threads()
        super().__init__(_Jumping(clock, threads))
        self.set_default_executor(threads)
        self._clock = clock
        # What is due within this is due now; without it a rounding error would never come.
        self._clock_resolution = 1e-6

    def time(self) -> float:
        return self._clock()

    async def shutdown_default_executor(self, *_: float | None) -> None:
        """Wait for the threads without a limit, which would be over at once."""
        await super().shutdown_default_executor()


class VirtualTime:
    """Coroutines run one after the other in one loop, which stands still between them."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self._loop = VirtualLoop(self.clock)
        # One for all, because one task may have to undo what another sets.
        self._context = copy_context()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return self._loop.run_until_complete(self._loop.create_task(work, context=self._context))

    def close(self) -> None:
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()


@contextmanager
def virtual_time() -> Iterator[VirtualTime]:
    made = VirtualTime()
    with clocks_follow(made.clock):
        try:
            yield made
        finally:
            made.close()


@contextmanager
def clocks_follow(clock: VirtualClock) -> Iterator[None]:
    """Let Textual's timers, the times of keys, and the clock that the app hands on follow the loop's."""
    if isinstance(_time.get_time, VirtualClock):
        yield
        return
    with ExitStack() as patches:
        patches.enter_context(patch("textual._time.get_time", clock))
        for module in ("pilot", "app"):
            patches.enter_context(patch(f"textual.{module}.wait_for_idle", _wait_for_idle))
        patches.enter_context(patch("textual.pilot.Pilot._wait_for_screen", _wait_for_screen))
        for name in _TIMED:
            patches.enter_context(patch(name, SimpleNamespace(monotonic=clock)))
        yield


async def _wait_for_idle(min_sleep: float = A_BREATH, max_sleep: float = 1) -> None:
    """Return when all work is done: virtual time does not pass before."""
    await asyncio.sleep(max(min_sleep, A_BREATH))


async def _wait_for_screen(*_: object) -> bool:
    """Stand in for asking every widget whether its messages are processed: they are."""
    await _wait_for_idle()
    return True
