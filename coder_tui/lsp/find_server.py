"""Finds a language server's program, the folder it works in, and whether its checkers are there. Blocks.

Finds a file of each language that a workspace has, for servers to begin with before they are needed.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coder_tui.lsp.servers import ServerSpec, language_of
from coder_tui.lsp.wire import LARGEST_TEXT
from coder_tui.policy.paths import is_secret

_PROJECT_PROGRAMS = ("node_modules/.bin", ".venv/bin", "venv/bin")
_LOOK = "import importlib.util, sys; sys.exit(not any(map(importlib.util.find_spec, sys.argv[1:])))"
_LOOK_SECONDS = 10.0
_SHEBANG = 256
_MANIFEST = 200_000


@dataclass(frozen=True, slots=True)
class Places:
    """Where programs are looked for; `root` is the workspace, `installed` what this program installed."""

    root: Path
    installed: Path
    path: str
    uses_project_programs: bool = False
    """Whether a person trusts what lies in the project."""

    @property
    def folders(self) -> tuple[Path, ...]:
        own = (self.installed / "python" / "bin", self.installed / "node" / "node_modules" / ".bin")
        # A server may live in the environment that this program runs in.
        return (*own, *map(Path, self.path.split(os.pathsep)), Path(sys.executable).parent)


def find_program(spec: ServerSpec, root: Path, places: Places) -> str:
    """The absolute path of the program; empty where there is none that may be used."""
    program = spec.command[0]
    if "/" in program:
        # Relative to the workspace; only the person or a project that they trust can say so.
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
    """Whether it is a script of a Python that is gone, as after an upgrade of the system."""
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
    """The nearest folder with a marker, or of the projects that belong together; None: not its file.

    Never one above the workspace.
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
    """Whether a program belongs to the workspace, by its own name or by what a link leads to."""
    places = (Path(program), Path(os.path.realpath(program)))
    return any(place.is_relative_to(root) for place in places for root in roots)


def missing_checker(
    spec: ServerSpec, program: str, environment: Mapping[str, str], roots: tuple[Path, ...] = ()
) -> str:
    """Which checker the server lacks and how to get it; empty when all is well or nobody can tell.

    A Python that lies in one of `roots` is not asked: it would run outside of the sandbox.
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
    """Whether this Python has none of them; False where nobody can tell."""
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
"""So many files and folders are looked at, those near the top first."""
_NOT_OURS = frozenset({"node_modules", "__pycache__", "venv", "vendor", "target", "build", "dist"})
# Most projects have a few such files, and few sessions change one.
_ONLY_WHEN_NEEDED = frozenset({"json", "yaml"})


def first_files(root: Path) -> tuple[Path, ...]:
    """At most one a language, by its suffix. Blocks, for a moment only."""
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
