"""What changes do to problems if files are not text, are deleted, moved, or changed by others."""

import asyncio
import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from coder_tui.lsp.pool import FileProblems
from coder_tui.lsp.report import Report
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.protocol.events import DiagnosticsChanged
from tests.fakes.lsp_bench import Bench, bench_in, problem
from tests.fakes.lsp_inside import hosted_inside
from tests.fakes.lsp_pools import faked

FRESH, UNSUPPORTED = ServerStatus.FRESH, ServerStatus.UNSUPPORTED
LARGE = "bad\n" + "x = 1\n" * 840_000
TOO_LARGE = "a.py is too large for language servers: it has more than 2,000,000 characters"
__all__ = ["hosted_inside"]
pytestmark = pytest.mark.usefixtures("hosted_inside")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "w"


@pytest.mark.parametrize(
    ("data", "why"),
    [(LARGE.encode(), TOO_LARGE), (b"\x89PNG\r\n\x1a\n\0", "a.py is not text: PNG image.")],
    ids=["5 MB", "no text"],
)
async def test_a_file_that_servers_no_longer_check_does_not_count_as_fixed(
    root: Path, data: bytes, why: str
) -> None:
    async with bench_in(root, faked()) as b:
        await b.pool.diagnostics(b.file, b.write("bad\n"))
        b.file.write_bytes(data)
        report = await b.pool.after_change([b.file], {b.file: "bad\n"})
        assert report == Report(UNSUPPORTED, detail=why)
        assert b.reported[-1] == DiagnosticsChanged("a.py", ())
        b.write("bad\n")
        back = await b.pool.after_change([b.file], {b.file: ""})
    assert back == Report(FRESH, introduced=(problem(1, 1, is_new=True),))


async def test_a_file_that_grows_too_large_leaves_the_pane(root: Path) -> None:
    async with bench_in(root, faked()) as b:
        await b.pool.diagnostics(b.file, b.write("bad\n"))
        b.write(LARGE)
        await b.pool.notify_changes([b.file])
        assert b.reported[-1] == DiagnosticsChanged("a.py", ())


async def test_a_text_that_is_too_large_is_not_sent_to_servers(root: Path) -> None:
    async with bench_in(root, faked()) as b:
        b.write("x\n")
        assert await b.pool.check_proposed(b.file, LARGE) == Report(UNSUPPORTED, detail=TOO_LARGE)
        await b.pool.expect_write(b.file, LARGE)
        report = await b.pool.after_change([b.file], {b.file: b.write(LARGE)})
        assert report == Report(UNSUPPORTED, detail=TOO_LARGE)
        assert await b.pool.diagnostics(b.file, LARGE) == FileProblems(UNSUPPORTED, detail=TOO_LARGE)
        assert b.pool._hosting.started == ()


async def test_a_proposal_for_a_large_file_is_not_compared_with_an_empty_text(root: Path) -> None:
    async with bench_in(root, faked()) as b:
        b.write(LARGE)
        report = await b.pool.check_proposed(b.file, "bad\n")
        assert report == Report(FRESH, remaining=(problem(1, 1),), is_compared=False)
        b.write("bad\n")
        assert await b.pool.after_change([b.file], {b.file: LARGE}) == report


@pytest.mark.parametrize("checks", [1, 2], ids=["under way", "and one that waits"])
async def test_reports_on_a_deleted_file_are_not_shown(root: Path, checks: int) -> None:
    async with bench_in(root, faked("lazy")) as b:
        await b.pool.diagnostics(b.file, b.write("odd\n"))
        text = b.write("bad\n")
        await b.pool._files.select(b.file, text)
        checking = [asyncio.ensure_future(b.pool.diagnostics(b.file, text)) for _ in range(checks)]
        await asyncio.sleep(0)
        assert b.pool._files.lock(b.file).locked()
        b.file.unlink()
        await b.pool.notify_changes([b.file])
        reported = [event for event in b.reported if isinstance(event, DiagnosticsChanged)]
        assert reported[-1] == DiagnosticsChanged("a.py", ())
        await asyncio.gather(*checking)
        assert [event for event in b.reported if isinstance(event, DiagnosticsChanged)] == reported
        assert b.pool.open_problems() == ()


def watched(b: Bench) -> str:
    """Return the server's last notification about files on disk."""
    return next(iter(b.pool.open_problems()), problem(1, 1)).message


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [("x", "y", 2), ("", "y", 1), ("x", None, 3)],
    ids=["changed", "made", "gone"],
)
async def test_servers_are_notified_of_edits_of_files_they_do_not_check(
    root: Path, before: str, after: str | None, kind: int
) -> None:
    async with bench_in(root, faked("watching")) as b:
        await b.pool.diagnostics(b.file, b.write("fine\n"))
        if after is not None:
            (root / "ruff.toml").write_text(after)
        report = await b.pool.after_change([root / "ruff.toml"], {root / "ruff.toml": before})
        assert report == Report(UNSUPPORTED)
        await b.until(lambda: watched(b) == f"{kind} ruff.toml")


async def test_servers_are_notified_of_all_edited_files_before_one_is_checked(root: Path) -> None:
    async with bench_in(root, faked("watching")) as b:
        await b.pool.diagnostics(b.file, b.write("fine\n"))
        (root / "ruff.toml").write_text("y")
        edited = {root / "ruff.toml": "x", b.file: "fine\n"}
        b.write("bad\n")
        report = await b.pool.after_change(tuple(edited), edited)
        assert report == Report(FRESH, introduced=(problem(1, 1, is_new=True),))


async def test_a_server_is_not_notified_twice_of_a_file_that_it_checks(root: Path) -> None:
    async with bench_in(root, faked("watching")) as b:
        await b.pool.diagnostics(b.file, b.write("fine\n"))
        b.write("bad\n")
        await b.pool.after_change([b.file], {b.file: "fine\n"})
        assert b.pool.open_problems() == (problem(1, 1, is_new=True),)


async def test_an_unknown_file_is_reported_as_created_and_changed(root: Path) -> None:
    async with bench_in(root, faked("watching")) as b:
        await b.pool.diagnostics(b.file, b.write("fine\n"))
        (root / "other.py").write_text("x")
        await b.pool.notify_changes([root / "other.py", root / "gone.py"])
        await b.until(lambda: watched(b) == "1 other.py, 2 other.py, 3 gone.py")


async def test_an_edit_that_follows_one_without_an_answer_is_not_blamed_for_lines_that_moved(
    root: Path,
) -> None:
    async with bench_in(root, faked("tardy")) as b:
        texts = ["bad\n", "import x\nbad\n", "import x\nimport y\nbad\n"]
        await b.pool.diagnostics(b.file, b.write(texts[0]))
        for old, new in itertools.pairwise(texts):
            b.write(new)
            report = await b.pool.after_change([b.file], {b.file: old})
            assert report.status is ServerStatus.STALE
        await b.until(lambda: DiagnosticsChanged("a.py", (problem(3, 1),)) in b.reported)
        assert await b.late() == {b.file: Report(FRESH, remaining=(problem(3, 1),))}


async def test_of_equal_problems_the_pane_marks_the_new_one(root: Path) -> None:
    async with bench_in(root, faked()) as b:
        old = b.write("def f():\n    return bad\n")
        await b.pool.diagnostics(b.file, old)
        b.pool.begin_turn()
        b.write(f"def g():\n    return bad\n{old}")
        await b.pool.after_change([b.file], {b.file: old})
        assert b.pool.open_problems() == (problem(2, 12, is_new=True), problem(4, 12))


async def test_moving_a_file_introduces_and_fixes_nothing(root: Path) -> None:
    async with bench_in(root, faked()) as b:
        text = b.write("bad one\nodd two\n")
        await b.pool.diagnostics(b.file, text)
        other = root / "b.py"
        same = tuple(replace(item, path="b.py") for item in (problem(1, 1), problem(2, 1, "odd")))
        proposed = await b.pool.check_proposed(other, text, text)
        assert proposed == Report(FRESH, remaining=same)
        b.file.rename(other)
        assert await b.pool.after_change([other, b.file], {other: text, b.file: text}) == proposed
        assert b.pool.open_problems() == same


async def test_servers_are_notified_of_a_moved_file(root: Path) -> None:
    async with bench_in(root, faked("watching")) as b:
        await b.pool.diagnostics(b.file, b.write("fine\n"))
        old, new = root / "old.py", root / "new.py"
        new.write_text("x")
        await b.pool.after_change([new, old], {new: "x", old: "x"})
        await b.until(lambda: "1 new.py" in watched(b))


async def test_a_file_that_moves_and_changes_is_compared_with_what_it_was(root: Path) -> None:
    async with bench_in(root, faked()) as b:
        text = b.write("bad one\nodd two\n")
        proposed = await b.pool.check_proposed(root / "b.py", "bad one\n", text)
    assert (proposed.introduced, len(proposed.fixed), len(proposed.remaining)) == ((), 1, 1)


async def test_files_with_problems_stay_known_among_very_many(root: Path) -> None:
    async with bench_in(root, faked()) as b:
        await b.pool.diagnostics(b.file, b.write("bad\n"))
        files = b.pool._files
        for number in range(2_000):
            files.state(root / f"{number}.py")
            async with files.lock(root / f"{number}.py"):
                pass
        assert len(files.states) == 500
        assert b.pool.open_problems() == (problem(1, 1),)
        assert len(files._locks) == 0
