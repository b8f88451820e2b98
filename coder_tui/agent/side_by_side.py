"""Runs a model's calls in their order; those that only look run beside each other."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from itertools import groupby
from typing import TypeVar

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
