"""Servers start before they are needed, with one file of each language in the workspace."""

import asyncio
from pathlib import Path

from coder_tui.agent.diagnostics.lookup import CodeLookup
from coder_tui.lsp.find_server import MOST_ENTRIES, first_files
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.protocol.events import DiagnosticsChanged, ServerStatusChanged
from coder_tui.workspace.files.confine import Workspace
from tests.fakes.lsp_pools import PoolEvent, faked, only, pool_in

ENOUGH = 20.0


def files(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("bad\n")


def test_one_file_of_each_language_is_found_near_the_top(tmp_path: Path) -> None:
    files(tmp_path, "z.py", "a/b.py", "a/c/d.sh", "a/e.sh", "data.json", "f.yml", "README.md")
    files(tmp_path, "node_modules/x.ts", ".hidden/y.go", "src/main.rs")
    assert [str(path.relative_to(tmp_path)) for path in first_files(tmp_path)] == [
        "z.py",
        "a/e.sh",
        "src/main.rs",
    ]


def test_the_search_is_bounded_in_a_large_workspace(tmp_path: Path) -> None:
    for number in range(MOST_ENTRIES):
        (tmp_path / f"{number}.txt").touch()
    files(tmp_path, "zz.py")
    assert first_files(tmp_path) == ()


def test_only_ordinary_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "large.py").write_text("x = 1\n" * 400_000)
    (tmp_path / "gone.py").symlink_to(tmp_path / "nowhere")
    (tmp_path / "shut.sh").mkdir()
    assert first_files(tmp_path) == ()
    assert first_files(tmp_path / "nowhere") == ()


async def test_a_server_of_the_workspaces_language_starts_and_nobody_hears_of_its_findings(
    tmp_path: Path,
) -> None:
    root = tmp_path / "w"
    files(root, "a.py")
    reported: asyncio.Queue[PoolEvent] = asyncio.Queue()
    pool = pool_in(root, faked(), reported.put_nowait)
    try:
        await CodeLookup(pool, Workspace(root)).warm()
        async with asyncio.timeout(ENOUGH):
            event = await reported.get()
            while not (isinstance(event, ServerStatusChanged) and event.status is ServerStatus.FRESH):
                assert not isinstance(event, DiagnosticsChanged)
                event = await reported.get()
            await asyncio.gather(*pool._background._tasks)
        assert (pool.open_problems(), reported.qsize()) == ((), 0)
    finally:
        await pool.close()


async def test_nothing_starts_if_no_server_fits(tmp_path: Path) -> None:
    root = tmp_path / "w"
    files(root, "a.sh", "b.txt")
    pool = pool_in(root, only("bash-language-server"), path="")
    try:
        await CodeLookup(pool, Workspace(root)).warm()
        await asyncio.gather(*pool._background._tasks)
        assert pool._hosting.pid is None
    finally:
        await pool.close()
