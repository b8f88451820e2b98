"""Servers that misbehave; "unknown" never counts as "clean"."""

import asyncio
import json
from pathlib import Path

import pytest

from coder_tui.lsp.wire import Checked, Published, StateChanged
from coder_tui.protocol.diagnostics import ServerStatus
from tests.fakes.lsp_checkers import BRIEF, ENOUGH, bad, fake_checker
from tests.fakes.process_family import is_alive

FRESH, PENDING, STALE = ServerStatus.FRESH, ServerStatus.PENDING, ServerStatus.STALE


@pytest.mark.parametrize(
    "behaviour", ["", "pull", "unversioned", "twice", "slow", "stderr", "chatty", "stutter", "register"]
)
async def test_a_problem_is_reported_and_then_its_fix(tmp_path: Path, behaviour: str) -> None:
    async with fake_checker(tmp_path / "w", behaviour) as it:
        broken = await it.checker.check(it.path, "x\n  bad\n", "python", ENOUGH)
        fixed = await it.checker.check(it.path, "x\n  fine\n", "python", ENOUGH)
    assert broken == Checked(FRESH, (bad(1, 2),), 1)
    assert fixed == Checked(FRESH)


async def test_an_old_result_after_the_new_one_is_dropped(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "late") as it:
        first = asyncio.ensure_future(it.checker.check(it.path, "bad\n", "python", ENOUGH))
        await asyncio.sleep(0)
        second = await it.checker.check(it.path, "fine\n", "python", ENOUGH)
        assert await first == second == Checked(FRESH)
        # Once the server answers this, everything it sent before has been read.
        assert (await it.checker.check(it.path, "fine again\n", "python", ENOUGH)) == Checked(FRESH)
        assert [event for event in it.reported if isinstance(event, Published) and event.items] == []


async def test_a_silent_server_is_pending(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "mute") as it:
        await it.checker.life.running(asyncio.get_running_loop().time() + ENOUGH)
        assert await it.checker.check(it.path, "bad\n", "python", 0.2) == Checked(PENDING)


async def test_a_server_that_falls_silent_is_stale_from_then_on(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "once") as it:
        known = await it.checker.check(it.path, "bad\n", "python", ENOUGH)
        for text in ("fine\n", "fine again\n"):
            assert await it.checker.check(it.path, text, "python", 0.2) == Checked(STALE, known.items, 1)
        assert known == Checked(FRESH, (bad(0, 0),), 1)


@pytest.mark.parametrize("behaviour", ["null", "unchanged", "nonsense"])
async def test_an_answer_without_findings_is_not_taken_for_a_clean_file(
    tmp_path: Path, behaviour: str
) -> None:
    async with fake_checker(tmp_path / "w", behaviour) as it:
        await it.checker.life.running(asyncio.get_running_loop().time() + ENOUGH)
        assert await it.checker.check(it.path, "bad\n", "python", 0.3) == Checked(PENDING)


async def test_a_result_for_an_earlier_text_is_stale(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "slow") as it:
        await it.checker.check(it.path, "bad\n", "python", ENOUGH)
        assert await it.checker.check(it.path, "\nbad\n", "python", 0.05) == Checked(STALE, (bad(0, 0),), 1)


async def test_a_server_that_does_not_answer_is_starting(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "never") as it:
        assert (await it.checker.check(it.path, "bad\n", "python", BRIEF)).status is ServerStatus.STARTING


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [("broken", "no such module: fake"), ("garbage", "it sent something that is not a message")],
)
async def test_a_server_that_cannot_start_is_crashed_and_says_why(
    tmp_path: Path, behaviour: str, words: str
) -> None:
    async with fake_checker(tmp_path / "w", behaviour) as it:
        reported = await it.checker.check(it.path, "bad\n", "python", ENOUGH)
    assert reported.status is ServerStatus.CRASHED
    assert words in reported.detail


async def test_a_crash_in_a_request_is_followed_by_a_new_start_with_the_same_files(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "crash") as it:
        await it.checker.check(it.path, "bad\n", "python", ENOUGH)
        crashing = asyncio.ensure_future(it.checker.check(it.path, "crash\n", "python", ENOUGH))
        await it.until_reported(
            lambda event: isinstance(event, StateChanged) and event.status is ServerStatus.STARTING
        )
        assert await it.checker.check(it.path, "x bad\n", "python", ENOUGH) == Checked(FRESH, (bad(0, 2),), 1)
        crashing.cancel()


async def test_five_quick_edits_end_with_the_last_text(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "slow") as it:
        texts = [f"{' ' * n}bad\n" for n in range(5)]
        results = await asyncio.gather(*(it.checker.check(it.path, text, "python", ENOUGH) for text in texts))
    assert results[-1] == Checked(FRESH, (bad(0, 4),), 1)


async def test_a_flood_is_bounded_and_counted_worst_first(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "flood") as it:
        reported = await it.checker.check(it.path, "x\n", "python", ENOUGH)
    assert (reported.status, reported.total, len(reported.items)) == (FRESH, 10_000, 500)
    assert {item.severity for item in reported.items} == {"error"}


async def test_positions_are_characters_whatever_the_server_counts(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w") as it:
        reported = await it.checker.check(it.path, "😀é bad\n", "python", ENOUGH)
    assert reported.items == (bad(0, 3),)


async def test_an_unchanged_text_is_answered_without_the_server(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "slow") as it:
        known = await it.checker.check(it.path, "bad\n", "python", ENOUGH)
        assert await it.checker.check(it.path, "bad\n", "python", 0.0) == known


async def test_a_proposed_text_is_not_published_and_is_known_once_written(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "slow") as it:
        before = await it.checker.check(it.path, "bad\n", "python", ENOUGH)
        reported = len(it.reported)
        proposed = await it.checker.check(it.path, "bad bad\n", "python", ENOUGH, is_proposed=True)
        assert len(it.reported) == reported
        it.checker.put(it.path, "bad\n", "python")
        assert await it.checker.check(it.path, "bad\n", "python", 0.0) == before
        assert await it.checker.check(it.path, "bad bad\n", "python", 0.0) == proposed
    assert proposed.items == (bad(0, 0), bad(0, 4))


async def test_reports_after_a_save_do_not_delay_later_edits(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "saves") as it:
        for text in ("bad\n", "fine\n", "bad bad\n", "fine too\n"):
            reported = len(it.reported)
            await it.checker.check(it.path, text, "python", ENOUGH, is_proposed=True)
            it.checker.put(it.path, text, "python", is_saved=True)
            # Already known, and repeated by the server.
            await it.until_count(reported + 2)
        assert it.checker._times.quiet(is_versioned=True, is_overlapping=False) == 0.0


async def test_every_request_of_a_server_is_answered(tmp_path: Path) -> None:
    settings = {"fake": {"depth": 3}}
    async with fake_checker(tmp_path / "w", "ask", settings=settings) as it:
        reported = await it.checker.check(it.path, "x\n", "python", ENOUGH)
    assert json.loads(reported.items[0].message) == {
        "workspace/configuration": [3, None],
        "workspace/workspaceFolders": [{"uri": (tmp_path / "w").as_uri(), "name": "w"}],
        "client/registerCapability": None,
        "client/unregisterCapability": None,
        "window/workDoneProgress/create": None,
        "window/showMessageRequest": None,
        "workspace/applyEdit": {
            "applied": False,
            "failureReason": "the user approves all changes",
        },
        "workspace/diagnostic/refresh": None,
        "fake/unheardOf": {"code": -32601, "message": "fake/unheardOf is not supported"},
    }


async def test_a_server_that_ignores_shutdown_is_killed(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "stubborn") as it:
        await it.checker.check(it.path, "x\n", "python", ENOUGH)
        run = it.checker.life.run
        assert run is not None
        pid = run.process.pid
    assert not is_alive(pid)


async def test_a_cancelled_check_leaves_the_server_usable(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "slow") as it:
        cancelled = asyncio.ensure_future(it.checker.check(it.path, "bad\n", "python", ENOUGH))
        await it.checker.life.running(asyncio.get_running_loop().time() + ENOUGH)
        cancelled.cancel()
        assert await it.checker.check(it.path, "x bad\n", "python", ENOUGH) == Checked(FRESH, (bad(0, 2),), 1)


@pytest.mark.parametrize("way", ["cancelled", "timed out"])
async def test_a_late_reply_does_not_affect_the_next_request(tmp_path: Path, way: str) -> None:
    async with fake_checker(tmp_path / "w", "lazy") as it:
        await it.checker.check(it.path, "x\n", "python", ENOUGH)
        run = it.checker.life.run
        assert run is not None
        if way == "cancelled":
            asking = asyncio.ensure_future(it.checker.check(it.path, "bad\n", "python", ENOUGH))
            await asyncio.sleep(0)
            asking.cancel()
        else:
            assert (await it.checker.check(it.path, "bad\n", "python", 0.05)).status is STALE
        # The server answers in order, so the other reply has come as well.
        assert await it.checker.check(it.path, "x bad\n", "python", ENOUGH) == Checked(FRESH, (bad(0, 2),), 1)
        assert (run is it.checker.life.run, run.session.protocol_error) == (True, "")
