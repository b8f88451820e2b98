"""Results are not reported again after something changed: files, the disk, the server itself."""

import asyncio
from pathlib import Path

import pytest

from coder_tui.lsp.wire import Checked
from coder_tui.protocol.diagnostics import ServerStatus
from tests.fakes.lsp_checkers import ENOUGH, Asked, bad, fake_checker

FRESH, STALE = ServerStatus.FRESH, ServerStatus.STALE
BROKEN = Checked(FRESH, (bad(0, 0),), 1)


def other(it: Asked) -> str:
    return it.path.replace("a.py", "b.py")


@pytest.mark.parametrize("behaviour", ["", "slow", "unversioned", "serial"])
async def test_a_file_that_is_closed_and_opened_again_is_not_clean_for_that(
    tmp_path: Path, behaviour: str
) -> None:
    async with fake_checker(tmp_path / "w", behaviour) as it:
        for _ in range(3):
            assert await it.checker.check(it.path, "bad\n", "python", ENOUGH) == BROKEN
            it.checker.close_document(it.path)


async def test_a_proposal_that_is_written_at_once_is_one_text_for_the_server(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "slow") as it:
        proposing = asyncio.ensure_future(
            it.checker.check(it.path, "bad\n", "python", ENOUGH, is_proposed=True)
        )
        await it.checker.life.running(asyncio.get_running_loop().time() + ENOUGH)
        proposing.cancel()
        it.checker.close_document(it.path, is_soon_again=True)
        assert await it.checker.check(it.path, "bad\n", "python", ENOUGH) == BROKEN
        assert it.checker.text_of(it.path) == "bad\n"


async def test_a_proposal_that_is_not_written_is_closed_after_a_moment(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "slow") as it:
        await it.checker.check(it.path, "bad\n", "python", ENOUGH, is_proposed=True)
        it.checker.close_document(it.path, is_soon_again=True)
        assert it.checker.text_of(it.path) == "bad\n"
        # Which takes longer than the moment does.
        await it.checker.check(other(it), "fine\n", "python", ENOUGH)
        assert it.checker.text_of(it.path) is None


async def test_a_report_on_an_earlier_text_is_not_used_for_this_one(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "serial") as it:
        for text in ("x\n", "y\n", "z\n"):
            await it.checker.check(it.path, text, "python", ENOUGH)
        it.checker.put(it.path, "fine\n", "python", is_proposed=True)
        it.checker.put(it.path, "z\n", "python")
        assert await it.checker.check(it.path, "bad\n", "python", ENOUGH) == BROKEN


async def test_a_file_is_checked_again_when_one_it_depends_on_changed(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "linked") as it:
        assert await it.checker.check(it.path, "bad\n", "python", ENOUGH) == Checked(FRESH)
        it.checker.put(other(it), "bad\n", "python")
        assert await it.checker.check(it.path, "bad\n", "python", ENOUGH) == BROKEN


async def test_a_file_is_checked_again_when_settings_changed(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "settings") as it:
        assert await it.checker.check(it.path, "bad\n", "python", ENOUGH) == Checked(FRESH)
        strict = tmp_path / "w" / "strict"
        strict.touch()
        it.checker.changed_on_disk([(str(strict), 1)])
        assert await it.checker.check(it.path, "bad\n", "python", ENOUGH) == BROKEN


async def test_a_result_is_stale_without_an_answer_after_another_file_changed(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "lazy") as it:
        assert await it.checker.check(it.path, "bad\n", "python", ENOUGH) == BROKEN
        it.checker.changed_on_disk([(other(it), 1)])
        assert await it.checker.check(it.path, "bad\n", "python", 0.05) == Checked(STALE, (bad(0, 0),), 1)


async def test_a_publishing_server_has_time_to_report_after_another_file_changed(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "slow") as it:
        assert await it.checker.check(it.path, "bad\n", "python", ENOUGH) == BROKEN
        it.checker.changed_on_disk([(other(it), 1)])
        assert await it.checker.check(it.path, "bad\n", "python", 0.0) == Checked(STALE, (bad(0, 0),), 1)
        assert await it.checker.check(it.path, "bad\n", "python", ENOUGH) == BROKEN


async def test_a_restarted_server_is_asked_again(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "strict") as it:
        assert await it.checker.check(it.path, "bad\n", "python", ENOUGH) == Checked(FRESH)
        (tmp_path / "w" / "strict").touch()
        await it.checker.life.restart()
        assert await it.checker.check(it.path, "bad\n", "python", ENOUGH) == BROKEN


async def test_published_findings_are_awaited_in_addition_to_pulled_ones(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "both") as it:
        for text in ("odd\n", "bad\n"):
            reported = len(it.reported)
            await it.checker.check(it.path, text, "python", ENOUGH, is_saved=True)
            await it.until_count(reported + 2)
        assert await it.checker.check(it.path, "fine\n", "python", ENOUGH, is_saved=True) == Checked(FRESH)
        half = await it.checker.check(it.path, "bad bad\n", "python", 0.2, is_proposed=True)
        assert half.status is STALE
        whole = await it.checker.check(it.path, "bad bad\n", "python", ENOUGH, is_saved=True)
        assert (whole.status, whole.total) == (FRESH, 2)


async def test_an_empty_list_from_a_busy_server_does_not_mean_clean(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "busy") as it:
        assert await it.checker.check(it.path, "bad\n", "python", ENOUGH) == BROKEN


async def test_more_files_than_a_server_has_open_are_checked_together(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "slow") as it:
        paths = [it.path.replace("a.py", f"{number}.py") for number in range(80)]
        results = await asyncio.gather(*(it.checker.check(path, "bad\n", "python", ENOUGH) for path in paths))
    assert results == [BROKEN] * 80
