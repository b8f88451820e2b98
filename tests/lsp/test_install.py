"""`coder-tui lsp install` with the real pip: a small server, which then answers."""

import asyncio
import json
from pathlib import Path

import pytest

from coder_tui.cli.main import run_command
from tests.fakes.lsp_plain import Row, plain_client
from tests.fakes.lsp_pools import server_path
from tests.fakes.lsp_real import CASES

RUFF = next(case for case in CASES if case.server == "ruff")


async def says(argv: tuple[str, ...], root: Path) -> list[Row]:
    async with plain_client(argv, root, server_path()) as plain:
        return await plain.check(root / RUFF.file, RUFF.broken, RUFF.language)


def test_a_server_is_installed_into_our_own_folder_though_its_python_was_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"CODER_TUI_{name}_DIR", str(tmp_path / name.lower()))
    root = tmp_path / "w"
    root.mkdir()
    monkeypatch.chdir(root)
    programs = tmp_path / "data" / "lsp" / "python" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").symlink_to(tmp_path / "gone")

    assert run_command(["lsp", "install", "ruff", "--yes"]) == 0
    assert capfd.readouterr().out.endswith("ruff is installed.\n")

    assert run_command(["lsp", "status", "--json"]) == 0
    found = {row["server"]: row for row in json.loads(capfd.readouterr().out)}["ruff"]
    assert (found["program"], found["status"]) == (str(programs / "ruff"), "fresh")
    assert asyncio.run(says((found["program"], "server"), root))
    assert [path.name for path in root.iterdir()] == []
