"""A file before the servers of a pool, and all that the pool tells."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from coder_tui.lsp.pool import LspPool
from coder_tui.lsp.report import Report
from coder_tui.lsp.servers import Catalog
from coder_tui.protocol.diagnostics import Diagnostic, Severity
from tests.fakes.lsp_pools import PoolEvent, pool_in


def problem(line: int, character: int, word: str = "bad", *, is_new: bool = False) -> Diagnostic:
    severity = Severity.ERROR if word == "bad" else Severity.WARNING
    return Diagnostic("a.py", line, character, severity, f"{word} word", "W", "fake", is_new)


class Bench:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.file = root / "a.py"
        self.reported: list[PoolEvent] = []
        self.pool: LspPool
        self._more = asyncio.Event()

    def hear(self, event: PoolEvent) -> None:
        self.reported.append(event)
        self._more.set()

    def write(self, text: str) -> str:
        self.file.write_text(text)
        return text

    async def until(self, is_true: Callable[[], bool]) -> None:
        while not is_true():
            self._more.clear()
            await asyncio.wait_for(self._more.wait(), 20)

    async def late(self) -> dict[Path, Report]:
        """What came late, once the pool has made sure that it is all."""
        await asyncio.gather(*self.pool._background._tasks)
        return self.pool.pop_late_reports()


@contextlib.asynccontextmanager
async def bench_in(root: Path, catalog: Catalog) -> AsyncIterator[Bench]:
    await asyncio.to_thread(root.mkdir, exist_ok=True)
    bench = Bench(root)
    bench.pool = pool_in(root, catalog, bench.hear)
    try:
        yield bench
    finally:
        await bench.pool.close()
