"""A server that the user starts again: one process before, one after, none when all is over."""

import asyncio
from pathlib import Path

import pytest

from coder_tui.lsp.wire import Checked, StateChanged
from coder_tui.protocol.diagnostics import ServerStatus
from tests.fakes.lsp_checkers import ENOUGH, Asked, bad, fake_checker
from tests.fakes.process_family import is_alive


def begun(it: Asked) -> list[int]:
    """The processes that came up, in order."""
    return [event.pid for event in it.reported if isinstance(event, StateChanged) and event.pid]


async def up(it: Asked) -> None:
    assert await it.checker.check(it.path, "bad\n", "python", ENOUGH) == Checked(
        ServerStatus.FRESH, (bad(0, 0),), 1
    )


async def test_concurrent_restarts_are_one(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w") as it:
        await up(it)
        await asyncio.gather(it.checker.life.restart(), it.checker.life.restart())
        await up(it)
        assert len(begun(it)) == 2
    assert [is_alive(pid) for pid in begun(it)] == [False, False]


async def test_nothing_is_known_during_a_restart(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "stubborn") as it:
        await up(it)
        restarting = asyncio.ensure_future(it.checker.life.restart())
        await asyncio.sleep(0)
        reported = await it.checker.check(it.path, "worse: bad\n", "python", 0.05)
        assert reported == Checked(ServerStatus.STARTING)
        restarting.cancel()


async def test_a_cancelled_restart_still_finishes(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w") as it:
        await up(it)
        restarting = asyncio.ensure_future(it.checker.life.restart())
        await asyncio.sleep(0)
        restarting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await restarting
        await it.until_reported(
            lambda event: isinstance(event, StateChanged) and event.pid not in (0, begun(it)[0])
        )
        await up(it)


async def test_a_server_closed_during_a_restart_stays_closed(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "stubborn") as it:
        await up(it)
        restarting = asyncio.ensure_future(it.checker.life.restart())
        await asyncio.sleep(0)
        await it.checker.close()
        await restarting
        assert [is_alive(pid) for pid in begun(it)] == [False]
