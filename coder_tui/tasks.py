"""Run background tasks that end with their owner, finish work despite cancellation, run calls in order.

Work that may block for ever runs in a separate thread.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future
from itertools import groupby
from typing import Any, TypeVar

T = TypeVar("T")


class BackgroundTasks:
    """Holds tasks that nobody awaits, as the event loop alone would let them be collected while they run."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        """Count the tasks that still run."""
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def cancel(self) -> None:
        """Cancel all of them, without waiting for their end."""
        for task in tuple(self._tasks):
            task.cancel()

    async def wait(self, seconds: float | None = None) -> None:
        """Wait for those that run now. Their errors stay with their tasks."""
        if self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=seconds)

    async def close(self) -> None:
        """Cancel all of them and return when they have ended."""
        self.cancel()
        await self.wait()


async def finish_despite_cancel(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` to its end, however often the caller is cancelled while it runs.

    A cancellation is raised afterwards and never lost. If `work` failed as well, its error is the cause.
    """
    task = asyncio.ensure_future(work)
    interruption: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            interruption = error
    if interruption is None:
        return task.result()
    raise interruption from (None if task.cancelled() else task.exception())


def in_daemon_thread(work: Callable[[], T], name: str) -> "asyncio.Future[T]":
    """Run work that may block for ever in a thread that does not keep the program from exiting."""
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(work())
        except Exception as error:  # noqa: BLE001  # whatever it is, it is raised where the result is awaited
            future.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return asyncio.wrap_future(future)


C = TypeVar("C")
R = TypeVar("R")


async def run_in_order(
    calls: Iterable[C], is_concurrent: Callable[[C], bool], run: Callable[[C], Awaitable[R]]
) -> list[R]:
    """Run calls in order, adjacent concurrent ones at the same time; return their results in order."""
    results: list[R] = []
    for group in _groups(calls, is_concurrent):
        # Gathered with their exceptions, so that none is left running when another fails.
        for result in await asyncio.gather(*map(run, group), return_exceptions=True):
            if isinstance(result, BaseException):
                raise result
            results.append(result)
    return results


def _groups(calls: Iterable[C], is_concurrent: Callable[[C], bool]) -> Iterator[list[C]]:
    for are_together, group in groupby(calls, is_concurrent):
        if are_together:
            yield list(group)
        else:
            yield from ([call] for call in group)
