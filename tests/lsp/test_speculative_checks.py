"""Texts that servers check before they are written; a result counts only for the text that was written."""

import os
import signal
from pathlib import Path

from coder_tui.lsp.pool import FileProblems
from coder_tui.lsp.report import Report
from coder_tui.protocol.diagnostics import ServerStatus
from tests.fakes.lsp_bench import bench_in, problem
from tests.fakes.lsp_pools import faked

FRESH = ServerStatus.FRESH


async def test_a_speculative_result_is_used_even_if_the_server_is_gone(tmp_path: Path) -> None:
    async with bench_in(tmp_path / "w", faked()) as b:
        await b.pool.diagnostics(b.file, b.write("bad one\n"))
        await b.pool.expect_write(b.file, "odd two\n")
        await b.pool._changes.speculative._expected[b.file].looking
        pid = b.pool._hosting.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            b.write("odd two\n")
            report = await b.pool.after_change([b.file])
        finally:
            os.kill(pid, signal.SIGCONT)
    assert report == Report(FRESH, (problem(1, 1, "odd", is_new=True),), (problem(1, 1),))


async def test_a_speculative_result_is_not_used_for_another_text(tmp_path: Path) -> None:
    async with bench_in(tmp_path / "w", faked()) as b:
        await b.pool.diagnostics(b.file, b.write("bad one\n"))
        await b.pool.expect_write(b.file, "bad one\nbad two\n")
        b.write("bad one\nodd two\n")
        report = await b.pool.after_change([b.file])
    assert report == Report(FRESH, (problem(2, 1, "odd", is_new=True),), (), (problem(1, 1),))


async def test_servers_get_the_text_on_disk_if_nothing_was_written(tmp_path: Path) -> None:
    async with bench_in(tmp_path / "w", faked()) as b:
        text = b.write("bad one\n")
        await b.pool.diagnostics(b.file, text)
        await b.pool.expect_write(b.file, "fine\n")
        await b.pool.cancel_expected_write(b.file)
        assert await b.pool.diagnostics(b.file, text) == FileProblems(FRESH, (problem(1, 1),), 1)
        b.write("bad one\nbad two\n")
        report = await b.pool.after_change([b.file])
    assert report == Report(FRESH, (problem(2, 1, is_new=True),), (), (problem(1, 1),))
