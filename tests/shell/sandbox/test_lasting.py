"""A long-running program in the sandbox writes the workspace, but nothing there that others run."""

import subprocess
from pathlib import Path

import pytest

from coder_tui.shell.sandbox.confinement import Confinement
from tests.fakes.shells import BUBBLEWRAP, sandbox_for

TRY = 'for name in "$@"; do { echo planted >> "$name"; } 2>/dev/null && echo "$name"; done; true'
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org")


@pytest.mark.needs("bubblewrap")
def test_a_lasting_program_commits_and_plants_nothing(tmp_path: Path) -> None:
    workspace, elsewhere = tmp_path / "workspace", tmp_path / "elsewhere"
    elsewhere.mkdir()
    subprocess.run(("git", "init", "-q", str(workspace)), check=True)
    (workspace / ".claude").mkdir()
    (workspace / ".mcp.json").touch()
    names = ("plain.txt", ".git/hooks/pre-commit", ".git/config", ".claude/settings.json", ".mcp.json")
    commit = " ".join((*GIT, "commit", "-q", "--allow-empty", "-m", "done", "&& git log --format=%s"))
    move = "mv .git .git2 2>/dev/null || echo kept"
    lasting = Confinement(folders=(str(workspace),), is_lasting=True)

    argv = ("/bin/sh", "-c", f"{TRY}; {commit}; {move}", "sh", *names)
    with sandbox_for(elsewhere, BUBBLEWRAP).launch(argv, {"PATH": "/usr/bin:/bin"}, lasting) as launch:
        done = subprocess.run(
            launch.argv,
            env=launch.environment,
            pass_fds=launch.descriptors,
            cwd=workspace,
            capture_output=True,
            text=True,
            check=True,
        )

    assert done.stdout.split() == ["plain.txt", "done", "kept"]
