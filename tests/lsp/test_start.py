"""Without an installed language server a session loads and starts nothing for them; counted, not timed."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
# A turn that reads files, as the demo does; the last line says what it did.
PROGRAM = """
import json, shutil, sys

begun, sought = [], []
def hear(event, arguments):
    if event == "subprocess.Popen":
        begun.append(" ".join(map(str, arguments[1])))
sys.addaudithook(hear)
which = shutil.which
shutil.which = lambda name, *rest, **named: sought.append(name) or which(name, *rest, **named)

from coder_tui.cli.main import run_command

code = run_command(["run", "--model", "demo", "-p", "look around"])
print()
print(json.dumps({"code": code, "begun": begun, "sought": sought, "modules": [*sys.modules]}))
"""
# What decides whether there is a server at all; the rest belongs to the host.
LOADED = """
changes document file_checks file_state find_server host_client pool report selection servers wire
"""


@pytest.fixture(scope="module")
def first_turn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    home, project = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("project")
    (project / "README.md").write_text("# Here\n")
    (project / "cart.py").write_text("discount = 1\n")
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=project,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    reported: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return reported


def test_a_first_turn_loads_only_what_decides_whether_there_is_a_server(first_turn: dict[str, Any]) -> None:
    ours = {name.removeprefix("coder_tui.lsp.") for name in first_turn["modules"] if "coder_tui.lsp." in name}
    assert sorted(ours - set(LOADED.split())) == []
    assert sorted({"pygls", "lsprotocol", "cattrs"}.intersection(first_turn["modules"])) == []


def test_a_first_turn_starts_no_process_for_servers(first_turn: dict[str, Any]) -> None:
    assert [command for command in first_turn["begun"] if "coder_tui.lsp" in command] == []


def test_only_default_servers_are_searched_for(first_turn: dict[str, Any]) -> None:
    sought = sorted(set(first_turn["sought"]) - {"bwrap", "git", "rg"})
    assert sought == ["bash-language-server", "pylsp"]
