"""A server that starts on a busy machine reports "unknown" or the truth, never "clean"."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from coder_tui.protocol.diagnostics import ServerStatus
from tests.fakes.lsp_real import CASES, Case, real_checker

BUSY = 2
IMPATIENT = 0.2
NOT_KNOWN = {ServerStatus.STARTING, ServerStatus.PENDING}
ENOUGH = 180.0


@contextlib.asynccontextmanager
async def busy_machine() -> AsyncIterator[None]:
    loops = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", "while True: pass") for _ in range(BUSY)
    ]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            await loop.wait()


async def cold(case: Case, root: Path) -> list[ServerStatus]:
    """Return all statuses of a broken file until its problems are known."""
    await asyncio.to_thread(root.mkdir)
    path = root / case.file
    await asyncio.to_thread(path.write_text, case.broken)
    said: list[ServerStatus] = []
    async with real_checker(case, root) as checker:
        while not said or said[-1] in NOT_KNOWN:
            reported = await checker.check(str(path), case.broken, case.language, IMPATIENT)
            said.append(reported.status)
            assert bool(reported.items) is (reported.status is ServerStatus.FRESH)
    return said


async def test_a_cold_start_on_a_busy_machine_never_means_clean(tmp_path: Path) -> None:
    """Start all installed servers at once: faster, and an additional load."""
    cases = [case for case in CASES if case.is_installed]
    async with busy_machine(), asyncio.timeout(ENOUGH):
        heard = await asyncio.gather(*(cold(case, tmp_path / case.server) for case in cases))
    assert [said[-1] for said in heard] == [ServerStatus.FRESH] * len(cases)
    # A quick server may have started or answered before the first check.
    assert ServerStatus.STARTING in {said[0] for said in heard}
