"""A real server that must be asked notices changes by commands and settings."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from coder_tui.agent.diagnostics.session import SessionDiagnostics
from coder_tui.lsp.report import Report
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.protocol.events import DiagnosticsChanged
from coder_tui.workspace.files.confine import Workspace
from tests.fakes.lsp_bench import Bench, bench_in
from tests.fakes.lsp_pools import only
from tests.fakes.lsp_real import CASES

RUFF = next(case for case in CASES if case.server == "ruff")


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    assert RUFF.argv
    async with bench_in(tmp_path / "w", only("ruff")) as bench:
        yield bench


def codes(bench: Bench) -> list[tuple[int, str]]:
    """Return the line and code of each problem in the pane."""
    reported = [event for event in bench.reported if isinstance(event, DiagnosticsChanged)]
    return [(item.line, item.code) for item in reported[-1].diagnostics] if reported else []


async def changed_by_a_command(
    bench: Bench, diagnostics: SessionDiagnostics, text: str, *wanted: tuple[int, str]
) -> None:
    await asyncio.to_thread(bench.write, text)
    diagnostics.files_changed((bench.file.name,))
    await bench.until(lambda: codes(bench) == list(wanted))


async def test_what_a_command_does_is_shown_and_not_blamed_on_the_next_edit(bench: Bench) -> None:
    diagnostics = SessionDiagnostics(bench.pool, Workspace(bench.root), lambda event: None, 60.0)
    try:
        await bench.pool.diagnostics(bench.file, bench.write("x = 1\n"))
        await changed_by_a_command(bench, diagnostics, "x = undefined_name\n", (1, "F821"))
        await changed_by_a_command(bench, diagnostics, "x = 1\n")
        await changed_by_a_command(bench, diagnostics, "x = undefined_name\n", (1, "F821"))
        before = bench.file.read_text()
        bench.write(f"y = 2\n{before}")
        report = await diagnostics.after_edits({bench.file: before})
    finally:
        await diagnostics.close()
    assert (report.status, report.introduced, report.fixed) == (ServerStatus.FRESH, (), ())
    assert [item.line for item in report.remaining] == [2]


async def test_an_edit_of_its_settings_changes_what_it_finds(bench: Bench) -> None:
    settings = bench.root / "ruff.toml"
    settings.write_text('lint.select = ["E9"]\n')
    text = bench.write("import os\n")
    assert (await bench.pool.diagnostics(bench.file, text)).items == ()
    settings.write_text('lint.select = ["F"]\n')
    report = await bench.pool.after_change([settings], {settings: 'lint.select = ["E9"]\n'})
    assert report == Report(ServerStatus.UNSUPPORTED)
    await bench.until(lambda: codes(bench) == [(1, "F401")])
