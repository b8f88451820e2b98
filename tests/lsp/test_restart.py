"""A server that a person starts anew: one process before, one after, none when all is over."""

import asyncio
from pathlib import Path

import pytest

from coder_tui.lsp.wire import Checked, StateTold
from coder_tui.protocol.diagnostics import ServerStatus
from tests.fakes.lsp_checkers import ENOUGH, Asked, bad, fake_checker
from tests.fakes.process_family import is_alive


def begun(it: Asked) -> list[int]:
    """The processes that came up, in order."""
    return [event.pid for event in it.told if isinstance(event, StateTold) and event.pid]


async def up(it: Asked) -> None:
    assert await it.checker.check(it.path, "bad\n", "python", ENOUGH) == Checked(
        ServerStatus.FRESH, (bad(0, 0),), 1
    )


async def test_restarts_wished_for_at_once_are_one(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w") as it:
        await up(it)
        await asyncio.gather(it.checker.life.restart(), it.checker.life.restart())
        await up(it)
        assert len(begun(it)) == 2
    assert [is_alive(pid) for pid in begun(it)] == [False, False]


async def test_in_a_restart_nothing_is_known(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "stubborn") as it:
        await up(it)
        restarting = asyncio.ensure_future(it.checker.life.restart())
        await asyncio.sleep(0)
        told = await it.checker.check(it.path, "worse: bad\n", "python", 0.05)
        assert told == Checked(ServerStatus.STARTING)
        restarting.cancel()


async def test_a_restart_that_nobody_waits_for_is_still_finished(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w") as it:
        await up(it)
        restarting = asyncio.ensure_future(it.checker.life.restart())
        await asyncio.sleep(0)
        restarting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await restarting
        await it.until_told(lambda event: isinstance(event, StateTold) and event.pid not in (0, begun(it)[0]))
        await up(it)


async def test_what_is_closed_in_a_restart_stays_closed(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "stubborn") as it:
        await up(it)
        restarting = asyncio.ensure_future(it.checker.life.restart())
        await asyncio.sleep(0)
        await it.checker.close()
        await restarting
        assert [is_alive(pid) for pid in begun(it)] == [False]
