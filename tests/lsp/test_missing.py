"""Missing servers, servers without their checker, and files outside the project."""

import asyncio
import json
import shutil
import sys
import sysconfig
from pathlib import Path

import pytest

from coder_tui.cli.main import run_command
from coder_tui.lsp.pool import FileProblems
from coder_tui.protocol.diagnostics import ServerStatus
from tests.fakes.lsp_plain import plain_client
from tests.fakes.lsp_pools import NODE_SERVERS, only, pool_in
from tests.fakes.lsp_real import CASES, Case
from tests.fakes.python_program import write_program

BASH = next(case for case in CASES if case.server == "bash-language-server")
PYLSP = next(case for case in CASES if case.server == "pylsp")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "w").mkdir()
    return tmp_path / "w"


@pytest.mark.parametrize("case", CASES, ids=[case.server for case in CASES])
async def test_without_its_program_a_server_is_named_and_nothing_is_started(
    case: Case, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coder_tui.lsp.find_server.sys.executable", str(root / "nowhere" / "python"))
    pool = pool_in(root, only(case.server), path="")
    try:
        found = await pool.diagnostics(root / case.file, case.broken)
        assert pool._hosting.pid is None
    finally:
        await pool.close()
    detail = f"{case.server} not installed, run: {case.spec.install_command}"
    assert found == FileProblems(ServerStatus.NOT_INSTALLED, detail=detail)


async def test_a_silent_server_without_its_checker_does_not_mean_clean(root: Path, tmp_path: Path) -> None:
    """bash-language-server finds nothing at all without shellcheck, and does not say so."""
    argv, node = BASH.argv, shutil.which("node")
    assert node is not None
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "node").symlink_to(node)
    path = f"{NODE_SERVERS}:{programs}"
    pool = pool_in(root, only(BASH.server), path=path)
    try:
        async with plain_client(argv, root, path, quiet=0.5) as plain:
            asked = plain.check(root / BASH.file, BASH.broken, BASH.language)
            said, found = await asyncio.gather(asked, pool.diagnostics(root / BASH.file, BASH.broken))
    finally:
        await pool.close()
    assert said == []
    detail = "shellcheck is missing, run: apt install shellcheck"
    assert found == FileProblems(ServerStatus.LINTER_MISSING, detail=detail)


def bare_environment(folder: Path, *hidden: str) -> Path:
    """The Python environment of the tests without some modules; its pylsp."""
    here = Path(sysconfig.get_path("purelib"))
    there = folder / here.relative_to(sys.prefix)
    there.mkdir(parents=True)
    for entry in here.iterdir():
        if entry.name.partition(".")[0].partition("-")[0] not in hidden:
            (there / entry.name).symlink_to(entry)
    (folder / "pyvenv.cfg").write_text((Path(sys.prefix) / "pyvenv.cfg").read_text())
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(Path(sys.executable).resolve())
    code = "from pylsp.__main__ import main\nmain()"
    return write_program(folder / "bin" / "pylsp", code, f"{folder}/bin/python")


async def test_a_pylsp_without_its_checkers_does_not_mean_clean(root: Path, tmp_path: Path) -> None:
    """It reports no findings, as for a clean file."""
    program = bare_environment(tmp_path / "bare", *PYLSP.spec.modules)
    path = str(program.parent)
    pool = pool_in(root, only(PYLSP.server), path=path)
    try:
        async with plain_client((str(program),), root, path, quiet=0.5) as plain:
            asked = plain.check(root / PYLSP.file, PYLSP.broken, PYLSP.language)
            said, found = await asyncio.gather(asked, pool.diagnostics(root / PYLSP.file, PYLSP.broken))
    finally:
        await pool.close()
    assert said == []
    detail = f"its checkers are missing, run: {PYLSP.spec.install_command}"
    assert found == FileProblems(ServerStatus.LINTER_MISSING, detail=detail)


@pytest.mark.parametrize("path", ["../other/a.py", "/etc/hostname"])
@pytest.mark.parametrize(
    "tool", ["lsp_diagnostics", "lsp_definition", "lsp_hover", "lsp_references", "lsp_symbols"]
)
def test_a_file_outside_is_asked_for_before_a_server_sees_it(
    root: Path, tool: str, path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"CODER_TUI_{name}_DIR", str(root.parent / name.lower()))
    monkeypatch.chdir(root)
    (root.parent / "other").mkdir()
    (root.parent / "other" / "a.py").write_text("x = 1\n")
    place = {} if tool in {"lsp_diagnostics", "lsp_symbols"} else {"line": 0, "character": 0}
    run_command(["policy", "check", tool, json.dumps({"path": path, **place}), "--json"])
    assert json.loads(capsys.readouterr().out)["effect"] == "ask"
