"""Installs language servers into the program's own folder: nothing of the system or the project changes."""

import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from coder_tui.lsp.servers import Installer, ServerSpec
from coder_tui.shell.environment import clean_environment

_SECONDS = 900
_NOWHERE = Path(sys.executable).anchor


class InstallFailedError(Exception):
    """What could not be run, or how it ended."""


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """The commands in order; all of them are shown before any runs."""

    spec: ServerSpec
    commands: tuple[tuple[str, ...], ...]

    @property
    def shown(self) -> tuple[str, ...]:
        return tuple(shlex.join(command) for command in self.commands)


def plan_for(spec: ServerSpec, folder: Path) -> InstallPlan:
    match spec.installer:
        case Installer.PIP:
            home = folder / "python"
            make = (sys.executable, "-m", "venv", str(home))
            python = str(home / "bin" / "python")
            install = (python, "-m", "pip", "install", "--disable-pip-version-check", *spec.packages)
            return InstallPlan(spec, (install,) if (home / "bin" / "pip").exists() else (make, install))
        case Installer.NPM:
            home = folder / "node"
            options = ("--prefix", str(home), "--no-audit", "--no-fund")
            return InstallPlan(spec, (("npm", "install", *options, *spec.packages),))
        case Installer.OTHER:
            raise ValueError(f"{spec.name} is installed by the person")


def run_plan(plan: InstallPlan) -> None:
    """What the commands print goes where ours goes. Blocks."""
    environment = clean_environment(os.environ)
    for command in plan.commands:
        if shutil.which(command[0], path=environment.get("PATH")) is None:
            raise InstallFailedError(f"{command[0]} is not installed")
        try:
            # Not in the folder one happens to be in: its modules and settings would take part.
            done = subprocess.run(command, env=environment, cwd=_NOWHERE, check=False, timeout=_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InstallFailedError(f"{command[0]} failed: {error}") from error
        if done.returncode:
            raise InstallFailedError(f"{command[0]} ended with exit code {done.returncode}")
