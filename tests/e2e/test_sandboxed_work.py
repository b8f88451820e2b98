"""Approved everyday work runs inside of the sandbox with what its findings name."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from coder_tui.protocol.access import Mode
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest
from coder_tui.shell.sandbox.sandbox import SandboxKind, SandboxStatus
from tests.fakes.real_tools import ALLOW, RealTools, setup_in

pytestmark = pytest.mark.needs("bubblewrap")


def allow(request: ApprovalRequest) -> ApprovalReply:
    return ALLOW


def git(project: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=project, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    monkeypatch.setenv("HOME", str(home))
    (home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    return project


@pytest.fixture
def tools(tmp_path: Path, project: Path) -> Callable[[], RealTools]:
    return lambda: RealTools(setup_in(tmp_path / "program", project, Mode.ASK), allow)


async def test_an_approved_commit_is_made_and_hooks_stay_as_they_were(
    project: Path, tools: Callable[[], RealTools]
) -> None:
    git(project, "init", "-q")
    (project / "a.txt").write_text("one\n")
    hook = project / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\necho x >> .git/config || echo x > .git/hooks/post-commit || touch kept\n")
    hook.chmod(0o755)
    before = (project / ".git" / "config").read_bytes()
    bash = tools()

    made = await bash.call("bash", command="git add a.txt && git commit -q -m 'Add a'")

    assert made["ok"], made["stderr"]
    assert git(project, "log", "--format=%s") == "Add a\n"
    assert "bubblewrap: no network, writes here and" in bash.asked[0].sandbox
    assert (project / "kept").exists()
    assert (project / ".git" / "config").read_bytes() == before


async def test_git_is_read_only_if_the_command_does_not_write_to_it(
    project: Path, tools: Callable[[], RealTools]
) -> None:
    git(project, "init", "-q")
    (project / "sneaky.py").write_text("open('.git/config', 'a').write('[core]')\n")

    result = await tools().call("bash", command=f"{shlex.quote(sys.executable)} sneaky.py")

    assert not result["ok"]
    assert "Read-only file system" in result["stderr"]


async def test_a_new_repository_can_be_made(project: Path, tools: Callable[[], RealTools]) -> None:
    result = await tools().call("bash", command="git init -q")

    assert (result["ok"], (project / ".git" / "HEAD").is_file()) == (True, True)
    assert git(project, "status", "--porcelain", "--ignored") == ""


async def test_an_approved_test_run_works(project: Path, tools: Callable[[], RealTools]) -> None:
    (project / "test_a.py").write_text("def test_a(tmp_path):\n    (tmp_path / 'x').write_text('x')\n")

    result = await tools().call("bash", command=f"{shlex.quote(sys.executable)} -m pytest -q test_a.py")

    assert (result["ok"], "1 passed" in result["stdout"]) == (True, True)


@pytest.mark.needs("npm")
async def test_an_approved_installation_works(project: Path, tools: Callable[[], RealTools]) -> None:
    """From a folder and from a tarball, with a script of the package, and without reaching anybody."""
    for name in ("folder", "packed"):
        (project / name).mkdir()
        manifest = {"name": name, "version": "1.0.0", "scripts": {"install": "node -e 1"}}
        (project / name / "package.json").write_text(json.dumps(manifest))
    (project / "package.json").write_text(json.dumps({"name": "p", "version": "1.0.0"}))
    shutil.make_archive(str(project / "packed"), "gztar", project, "packed")
    bash = tools()

    result = await bash.call(
        "bash", command="npm install --offline --no-audit --no-fund ./folder ./packed.tar.gz"
    )

    assert (result["ok"], result["exit_code"]) == (True, 0)
    assert (project / "node_modules/packed/package.json").is_file()
    assert "with network" in bash.asked[0].sandbox
    assert not (Path(os.environ["HOME"]) / ".npm").exists()


async def test_in_auto_mode_code_runs_without_asking_and_stays_inside(tmp_path: Path, project: Path) -> None:
    outside = tmp_path / "home" / "mark"
    (project / "try.py").write_text(
        "import pathlib, socket\n"
        "pathlib.Path('inside').write_text('x')\n"
        f"for attempt in (lambda: pathlib.Path({str(outside)!r}).write_text('x'),\n"
        "                lambda: socket.create_connection(('1.1.1.1', 53), 2)):\n"
        "    try: attempt(); print('out')\n"
        "    except OSError: print('held')\n"
    )
    bash = RealTools(setup_in(tmp_path / "program", project, Mode.AUTO))

    result = await bash.call("bash", command="python3 try.py")

    assert (result["stdout"], bash.asked) == ("held\nheld\n", [])
    assert ((project / "inside").exists(), outside.exists()) == (True, False)


async def test_without_a_sandbox_that_guards_everything_mode_auto_asks(tmp_path: Path, project: Path) -> None:
    setup = setup_in(tmp_path / "program", project, Mode.AUTO)
    bash = RealTools(replace(setup, sandbox=SandboxStatus(SandboxKind.LANDLOCK, "a test wants it so")))

    outcome = await bash.outcome("bash", command="python3 --version > version")

    assert (outcome, len(bash.asked)) == ("permission_denied", 1)
