"""Installs language servers into the program's own folder: nothing of the system or the project changes."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coder_tui.lsp.find_server import lacks_modules
from coder_tui.lsp.servers import KNOWN, Installer, ServerSpec
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


def plans_for(specs: Sequence[ServerSpec], folder: Path) -> list[InstallPlan]:
    """One for each. Python's share an environment, which the first makes where none is able. Blocks."""
    home = folder / "python"
    maker = next((spec for spec in specs if spec.installer is Installer.PIP), None)
    if _is_able(home):
        maker = None
    return [_plan(spec, folder, lost=_servers_in(home) if spec is maker else None) for spec in specs]


def _plan(spec: ServerSpec, folder: Path, lost: tuple[ServerSpec, ...] | None) -> InstallPlan:
    """`lost` are the servers of an environment that is made anew; None leaves it as it is."""
    match spec.installer:
        case Installer.PIP:
            home = folder / "python"
            make = (sys.executable, "-m", "venv", "--clear", str(home))
            needed = dict.fromkeys(name for each in (spec, *(lost or ())) for name in each.packages)
            install = (str(_python(home)), "-m", "pip", "install", "--disable-pip-version-check", *needed)
            return InstallPlan(spec, (install,) if lost is None else (make, install))
        case Installer.NPM:
            home = folder / "node"
            options = ("--prefix", str(home), "--no-audit", "--no-fund")
            return InstallPlan(spec, (("npm", "install", *options, *spec.packages),))
        case Installer.OTHER:
            raise ValueError(f"{spec.name} is installed by the person")


def _python(home: Path) -> Path:
    return home / "bin" / "python"


def _is_able(home: Path) -> bool:
    """Whether something can be installed there: an upgrade of the system may have taken its Python away."""
    python = _python(home)
    return os.access(python, os.X_OK) and not lacks_modules(str(python), ("pip",), os.environ)


def _servers_in(home: Path) -> tuple[ServerSpec, ...]:
    return tuple(
        spec
        for spec in KNOWN
        if spec.installer is Installer.PIP and os.path.lexists(home / "bin" / spec.command[0])
    )


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
