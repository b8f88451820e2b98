"""What both measurements of language servers share: the edits, the times, and how they are compared."""

import asyncio
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.fakes.lsp_real import Case

# With the first changes both learn what is usual for a server.
WARM_UP = 4
_REST = 0.01


@dataclass(slots=True)
class Times:
    """In milliseconds; `later` is ours without a notice before the write, if that was measured."""

    plain: list[float] = field(default_factory=list)
    ours: list[float] = field(default_factory=list)
    later: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        return statistics.median(self.ours) / statistics.median(self.plain)


def texts(case: Case, rounds: int) -> Iterator[str]:
    """Return broken and fixed texts in turn. Some servers do not report twice that a file is clean."""
    for number in range(rounds + WARM_UP):
        yield case.clean(number + 10) if number % 2 else case.faulty(number)


async def rest() -> None:
    """Wait: what one side does after its result, which nobody waits for, must not slow down the other."""
    await asyncio.sleep(_REST)
