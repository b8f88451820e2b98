"""A server that starts on a busy machine: what is said meanwhile is that nothing is known, or the truth."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from coder_tui.protocol.diagnostics import ServerStatus
from tests.fakes.lsp_real import CASES, Case, real_checker

BUSY = 4
IMPATIENT = 0.2
NOT_KNOWN = {ServerStatus.STARTING, ServerStatus.PENDING}
# Both call a file clean when they are asked in the wrong moment, or without their checkers.
COLD = [case for case in CASES if case.server in {"pylsp", "bash-language-server"}]


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


@pytest.mark.parametrize("case", COLD, ids=[case.server for case in COLD])
async def test_a_cold_start_on_a_busy_machine_is_never_a_clean_file(case: Case, tmp_path: Path) -> None:
    root = tmp_path / "w"
    root.mkdir()
    path = root / case.file
    path.write_text(case.broken)
    said: list[ServerStatus] = []
    async with busy_machine(), real_checker(case, root) as checker, asyncio.timeout(90):
        while not said or said[-1] in NOT_KNOWN:
            told = await checker.check(str(path), case.broken, case.language, IMPATIENT)
            said.append(told.status)
            assert bool(told.items) is (told.status is ServerStatus.FRESH)
    assert (said[0], said[-1]) == (ServerStatus.STARTING, ServerStatus.FRESH)
