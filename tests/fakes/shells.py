"""Shells as a session has them: confined by whatever works here, or not at all."""

import os
from pathlib import Path

from coder_tui.shell.sandbox.sandbox import (
    Sandbox,
    SandboxFolders,
    SandboxKind,
    SandboxSetting,
    SandboxStatus,
)
from coder_tui.shell.session_shell import SessionShell, ShellOptions
from coder_tui.text.redact import BY_SHAPE
from tests.fakes.needs import skip_without, working_bubblewrap

BUBBLEWRAP = SandboxStatus(SandboxKind.BUBBLEWRAP, program=working_bubblewrap())
LANDLOCK = SandboxStatus(SandboxKind.LANDLOCK)
UNCONFINED = SandboxStatus(SandboxKind.NONE, "a test wants it so")


def skip_without_sandbox(kind: SandboxKind) -> None:
    match kind:
        case SandboxKind.BUBBLEWRAP:
            skip_without("bubblewrap")
        case SandboxKind.LANDLOCK:
            skip_without("Landlock")
        case SandboxKind.NONE:
            pass


def folders_in(base: Path) -> SandboxFolders:
    """Return the program's own folders next to a workspace."""
    data = base / "data"
    return SandboxFolders((base / "config", data), (data / "tool-output",), base / "cache")


def sandbox_for(
    root: Path,
    status: SandboxStatus = BUBBLEWRAP,
    *,
    home: Path | None = None,
    setting: SandboxSetting = SandboxSetting.AUTO,
) -> Sandbox:
    base = Path(os.path.realpath(root)).parent
    return Sandbox(status, setting, (Path(os.path.realpath(root)),), folders_in(base), home or base / "home")


def shell_for(
    root: Path,
    status: SandboxStatus = UNCONFINED,
    options: ShellOptions | None = None,
    *,
    home: Path | None = None,
) -> SessionShell:
    sandbox = sandbox_for(root, status, home=home)
    outputs = sandbox.roots[0].parent / "data" / "tool-output"
    return SessionShell(sandbox.roots[0], options or ShellOptions(), sandbox, outputs, BY_SHAPE)
