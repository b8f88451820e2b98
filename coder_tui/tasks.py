"""Work that goes on beside a session's turns and ends with the session.

Lets a short piece of bookkeeping finish although its task is being cancelled.

Runs a model's calls in their order; those that only look run beside each other.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from itertools import groupby
from typing import Any, TypeVar


class Background:
    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)


T = TypeVar("T")


async def to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Await `work` whole; a cancellation that arrives meanwhile is raised afterwards, never lost."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if not task.done():
            await asyncio.wait({task})
        raise


C = TypeVar("C")
R = TypeVar("R")


async def side_by_side(
    calls: Iterable[C], is_concurrent: Callable[[C], bool], run: Callable[[C], Awaitable[R]]
) -> list[R]:
    """The results, in the order of the calls."""
    results: list[R] = []
    for group in _groups(calls, is_concurrent):
        # Gathered with their exceptions, so that none is left running when another fails.
        for result in await asyncio.gather(*map(run, group), return_exceptions=True):
            if isinstance(result, BaseException):
                raise result
            results.append(result)
    return results


def _groups(calls: Iterable[C], is_concurrent: Callable[[C], bool]) -> Iterator[list[C]]:
    for is_beside, group in groupby(calls, is_concurrent):
        if is_beside:
            yield list(group)
        else:
            yield from ([call] for call in group)
