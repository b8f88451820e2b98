"""Find a language server's program, the folder it works in, and whether its checkers exist. Blocks.

Also finds one file per language in a workspace, so that servers can be started before they are needed, and
installs servers into our own folder; the system and the project stay unchanged.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coder_tui.lsp.servers import KNOWN, Installer, ServerSpec, language_of
from coder_tui.lsp.wire import LARGEST_TEXT
from coder_tui.policy.paths import is_secret
from coder_tui.shell.environment import clean_environment

_PROJECT_PROGRAMS = ("node_modules/.bin", ".venv/bin", "venv/bin")
_LOOK = "import importlib.util, sys; sys.exit(not any(map(importlib.util.find_spec, sys.argv[1:])))"
_LOOK_SECONDS = 10.0
_SHEBANG = 256
_MANIFEST = 200_000


@dataclass(frozen=True, slots=True)
class Places:
    """Where programs are searched; `root` is the workspace, `installed` the servers we installed."""

    root: Path
    installed: Path
    path: str
    uses_project_programs: bool = False
    """Whether the user trusts programs inside the project."""

    @property
    def folders(self) -> tuple[Path, ...]:
        own = (self.installed / "python" / "bin", self.installed / "node" / "node_modules" / ".bin")
        # A server may live in the environment that this program runs in.
        return (*own, *map(Path, self.path.split(os.pathsep)), Path(sys.executable).parent)


def find_program(spec: ServerSpec, root: Path, places: Places) -> str:
    """Return the absolute path of the program, or "" if there is none that may be used."""
    program = spec.command[0]
    if "/" in program:
        # Relative to the workspace; only the user or a trusted project can configure this.
        found = Path(os.path.normpath(places.root / Path(program).expanduser()))
        return str(found) if os.access(found, os.X_OK) else ""
    local = _local_folders(root, places.root) if places.uses_project_programs else ()
    if spec.only_local:
        folders = tuple(folder for folder in local if _has_version(folder.parent, spec))
    else:
        folders = (*local, *(folder for folder in places.folders if folder.is_absolute()))
    there = (shutil.which(program, path=str(folder)) for folder in folders)
    return next((path for path in there if path and not _is_orphan(path)), "")


def _is_orphan(program: str) -> bool:
    """Return whether it is a script of a Python that no longer exists, as after a system upgrade."""
    python = _interpreter(program)
    return bool(python) and not os.access(python, os.X_OK)


def _local_folders(root: Path, workspace: Path) -> tuple[Path, ...]:
    return tuple(folder / name for folder in dict.fromkeys((root, workspace)) for name in _PROJECT_PROGRAMS)


def _has_version(modules: Path, spec: ServerSpec) -> bool:
    try:
        package = json.loads((modules / spec.only_local / "package.json").read_text(encoding="utf-8"))
        return int(str(package["version"]).partition(".")[0]) >= spec.local_version
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def find_root(spec: ServerSpec, file: Path, workspace: Path) -> Path | None:
    """Return the nearest folder with a marker or of a united project, never above the workspace.

    None means that the file belongs to another tool.
    """
    if not file.is_relative_to(workspace):
        return workspace
    folders = [folder for folder in file.parents if folder.is_relative_to(workspace)]
    if any((folder / name).exists() for folder in folders for name in spec.not_with):
        return None
    for folder in folders:
        if spec.united_by[0] and _has_text(folder / spec.united_by[0], spec.united_by[1]):
            return folder
    for folder in folders:
        if any((folder / name).exists() for name in spec.markers):
            return folder
    return workspace


def _has_text(path: Path, text: str) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open(encoding="utf-8", errors="replace") as file:
            return text in file.read(_MANIFEST)
    except OSError:
        return False


def lies_within(program: str, roots: tuple[Path, ...]) -> bool:
    """Return whether a program is inside the workspace, by its path or by where a link leads."""
    places = (Path(program), Path(os.path.realpath(program)))
    return any(place.is_relative_to(root) for place in places for root in roots)


def missing_checker(
    spec: ServerSpec, program: str, environment: Mapping[str, str], roots: tuple[Path, ...] = ()
) -> str:
    """Say which checker the server lacks and how to install it; "" if none is missing or it is unknown.

    A Python inside one of `roots` is not run to find out: it would run outside the sandbox.
    """
    if spec.checkers:
        path = environment.get("PATH", "")
        if not any(shutil.which(name, path=path) for name in spec.checkers):
            return f"{' or '.join(spec.checkers)} is missing, run: {spec.checker_hint}"
    python = _interpreter(program) if spec.modules else ""
    is_projects = any(lies_within(each, roots) for each in (program, python))
    if python and not is_projects and lacks_modules(python, spec.modules, environment):
        return f"its checkers are missing, run: {spec.checker_hint}"
    return ""


def lacks_modules(python: str, modules: tuple[str, ...], environment: Mapping[str, str]) -> bool:
    """Return whether this Python has none of the modules; False if that is unknown."""
    try:
        looked = subprocess.run(
            (python, "-I", "-c", _LOOK, *modules),
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LOOK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return looked.returncode == 1


def _interpreter(program: str) -> str:
    """Return the Python that a script names in its first line.

    It is in the second line if its path is too long for the first, or has a space.
    """
    try:
        with Path(program).open("rb") as file:
            head = file.read(_SHEBANG).decode("utf-8", "replace")
    except OSError:
        return ""
    named = r"""^(?:#!|'''exec' )(?:"(/[^"]*python[\w.]*)"|(/\S*python[\w.]*))"""
    found = re.search(named, head, re.MULTILINE)
    return found[1] or found[2] if found else ""


MOST_ENTRIES = 2_000
"""The most files and folders that are visited, those near the top first."""
_NOT_OURS = frozenset({"node_modules", "__pycache__", "venv", "vendor", "target", "build", "dist"})
# Most projects have a few such files, and few sessions change one.
_ONLY_WHEN_NEEDED = frozenset({"json", "yaml"})


def first_files(root: Path) -> tuple[Path, ...]:
    """Return at most one file per language, by suffix. Blocks briefly."""
    found: dict[str, Path] = {}
    folders = deque([root])
    left = MOST_ENTRIES
    while folders and left > 0:
        entries = _entries(folders.popleft())[:left]
        left -= len(entries)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(Path(entry.path))
            elif (language := language_of(Path(entry.path), "", {})) and _is_fit(entry):
                found.setdefault(language.key, Path(entry.path))
    return tuple(path for key, path in found.items() if key not in _ONLY_WHEN_NEEDED)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            kept = [
                entry for entry in entries if not entry.name.startswith(".") and entry.name not in _NOT_OURS
            ]
    except OSError:
        return []
    return sorted(kept, key=lambda entry: entry.name)


def _is_fit(entry: os.DirEntry[str]) -> bool:
    try:
        is_usual = entry.is_file(follow_symlinks=False) and entry.stat().st_size <= LARGEST_TEXT
    except OSError:
        return False
    return is_usual and not is_secret(entry.path)


_SECONDS = 900
_NOWHERE = Path(sys.executable).anchor


class InstallFailedError(Exception):
    """Says what could not be run, or how it ended."""


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """The commands in order; all are shown before any runs."""

    spec: ServerSpec
    commands: tuple[tuple[str, ...], ...]

    @property
    def shown(self) -> tuple[str, ...]:
        return tuple(shlex.join(command) for command in self.commands)


def plans_for(specs: Sequence[ServerSpec], folder: Path) -> list[InstallPlan]:
    """Return one plan per server. Python servers share an environment; the first plan creates it. Blocks."""
    home = folder / "python"
    maker = next((spec for spec in specs if spec.installer is Installer.PIP), None)
    if _is_able(home):
        maker = None
    return [_plan(spec, folder, lost=_servers_in(home) if spec is maker else None) for spec in specs]


def _plan(spec: ServerSpec, folder: Path, lost: tuple[ServerSpec, ...] | None) -> InstallPlan:
    """Plan one server; `lost` are the servers of an environment to recreate, None keeps the environment."""
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
            raise ValueError(f"{spec.name} must be installed by the user")


def _python(home: Path) -> Path:
    return home / "bin" / "python"


def _is_able(home: Path) -> bool:
    """Return whether its Python and pip still work: a system upgrade may have removed them."""
    python = _python(home)
    return os.access(python, os.X_OK) and not lacks_modules(str(python), ("pip",), os.environ)


def _servers_in(home: Path) -> tuple[ServerSpec, ...]:
    return tuple(
        spec
        for spec in KNOWN
        if spec.installer is Installer.PIP and os.path.lexists(home / "bin" / spec.command[0])
    )


def run_plan(plan: InstallPlan) -> None:
    """Run the commands; their output goes to ours. Blocks."""
    environment = clean_environment(os.environ)
    for command in plan.commands:
        if shutil.which(command[0], path=environment.get("PATH")) is None:
            raise InstallFailedError(f"{command[0]} is not installed")
        try:
            # Not in the current folder, whose modules and settings would be used.
            done = subprocess.run(command, env=environment, cwd=_NOWHERE, check=False, timeout=_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InstallFailedError(f"{command[0]} failed: {error}") from error
        if done.returncode:
            raise InstallFailedError(f"{command[0]} ended with exit code {done.returncode}")
