"""No program of a project runs outside the sandbox, not even to see what it can do."""

import os
from pathlib import Path

import pytest

from coder_tui.lsp.find_server import InstallPlan, Places, plans_for, run_plan
from coder_tui.lsp.selection import NO_SANDBOX, LspContext, Selector
from coder_tui.lsp.servers import build_catalog
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.shell.sandbox.sandbox import SandboxKind, SandboxStatus

CONFINED = SandboxStatus(SandboxKind.BUBBLEWRAP, program="/usr/bin/bwrap")
OPEN = SandboxStatus(SandboxKind.NONE)


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Trusted once; since then a command in the sandbox has put programs there."""
    root = tmp_path / "project"
    python = executable(root / "tools" / "python", f"#!/bin/sh\nenv > {tmp_path}/ran\n")
    for name in ("pylsp", "basedpyright-langserver", "pyright-langserver", "jedi-language-server"):
        executable(root / ".venv" / "bin" / name, f"#!{python}\n")
    return root


def selector(project: Path, sandbox: SandboxStatus) -> Selector:
    places = Places(project, project.parent / "installed", "", uses_project_programs=True)
    return Selector(
        LspContext((project,), build_catalog({}), lambda: places, lambda: "", sandbox, os.environ)
    )


async def test_a_projects_interpreter_is_not_asked_for_modules(project: Path) -> None:
    found = await selector(project, CONFINED).for_workspace()

    inside = [each for each in found if each.order and each.order.argv[0].startswith(str(project))]
    assert inside
    assert not (project.parent / "ran").exists()


async def test_a_projects_server_does_not_start_without_a_sandbox(project: Path) -> None:
    found = await selector(project, OPEN).for_workspace()

    pylsp = next(each for each in found if each.spec.name == "pylsp")
    assert (pylsp.order, pylsp.status) == (None, ServerStatus.UNTRUSTED)
    assert pylsp.detail == f"pylsp: {NO_SANDBOX}"


def test_installing_runs_no_module_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python looks for `-m` modules, and for all that they import, in the working directory first."""
    for name in ("venv", "logging"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    spec = next(spec for spec in build_catalog({}).servers if spec.name == "pylsp")
    ((make, _),) = (plan.commands for plan in plans_for((spec,), tmp_path / "installed"))

    run_plan(InstallPlan(spec, ((*make[:3], "--help"),)))

    assert not (tmp_path / "ran").exists()
