"""Files and folders that one may not look into (another user's, a database's) stop nothing else."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.program import COMMANDS_RUN, PATIENCE, PLAIN, Program

CAPABILITIES = "-dac_override,-dac_read_search"
NO_PERMISSION = "The system does not permit access to {}."
CLOSED = ("closed", ".claude", ".agents", ".git", "closed.txt", "AGENTS.md", ".gitignore")
NEW_FILE = "--- a/closed/n\n+++ b/closed/n\n@@ -0,0 +1 @@\n+b\n"


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """A project in which much is closed; opened in the end, so that it can be removed."""
    made = Program.in_folder(tmp_path, PLAIN)
    project = made.project
    for folder in ("closed", ".claude/agents", ".agents/skills", ".git"):
        (project / folder).mkdir(parents=True)
    for file in ("closed/x", "closed.txt", "AGENTS.md", ".gitignore", "open.txt"):
        (project / file).write_text("needle\n")
    (project / "AGENTS.override.md").symlink_to("closed/x")
    for name in CLOSED:
        (project / name).chmod(0)
    yield made
    for name in CLOSED:
        (project / name).chmod(0o700)


def without_privileges(command: list[str]) -> list[str]:
    """Root may look everywhere, unless that is taken away."""
    if os.geteuid() != 0:
        return command
    if shutil.which("setpriv") is None:
        pytest.skip("needs setpriv where root runs the tests: apt install util-linux")
    return ["setpriv", f"--bounding-set={CAPABILITIES}", f"--inh-caps={CAPABILITIES}", *command]


def answers(program: Program, *calls: tuple[str, dict[str, object]]) -> list[dict[str, Any]]:
    lines = "".join(json.dumps({"tool": tool, "args": args}) + "\n" for tool, args in calls)
    done = subprocess.run(
        without_privileges(program.command("tool", "call", "--stdin", "--permission", "auto")),
        cwd=program.project,
        env=program.environment | COMMANDS_RUN,
        input=lines,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert len(done.stdout.splitlines()) == len(calls), done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_unreadable_files_are_reported_and_the_rest_works(program: Program) -> None:
    shell, glob, many, named, pattern, patch, git = answers(
        program,
        ("bash", {"command": "cat open.txt"}),
        ("glob", {"pattern": "*.txt"}),
        ("read_many", {"paths": ["*.txt"]}),
        ("grep", {"pattern": "needle", "path": "closed.txt"}),
        ("read_many", {"paths": ["closed/*.txt"]}),
        ("patch", {"patch": NEW_FILE}),
        ("git_status", {}),
    )
    assert (shell["ok"], shell.get("stdout")) == (True, "needle\n"), shell
    assert glob["matches"] == ["closed.txt", "open.txt"]
    closed = {"type": "execution_failed", "message": NO_PERMISSION.format("closed.txt")}
    assert many["files"] == [
        {"path": "closed.txt", "error": closed},
        {"path": "open.txt", "content": "needle", "has_more": False},
    ]
    assert named["error"] == closed
    assert pattern["skipped"] == [{"path": "closed/*.txt", "reason": "no file matches"}]
    assert patch["error"] == {"type": "execution_failed", "message": NO_PERMISSION.format("closed/n")}
    unread = {
        "type": "execution_failed",
        "message": f"{program.project}/.git/HEAD cannot be read: Permission denied.",
    }
    assert {key: git["error"][key] for key in unread} == unread
