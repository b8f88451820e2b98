"""The bubblewrap profile: read the whole disk except secrets, write the workspace, reach nothing else."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from coder_tui.shell.sandbox.confinement import Confinement
from coder_tui.shell.sandbox.protected import (
    ALSO_GUARDED,
    GUARDED,
    git_folders,
    guarded_parts,
    nested_repositories,
    secret_places,
)

_PLACES = ("/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap")
_TEMPORARY = (Path("/tmp"), Path("/var/tmp"))
_ISOLATION = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--cap-drop", "ALL", "--new-session", "--die-with-parent"),
)
_EVERYTHING = Path("/")
_OUR_CODE = Path(__file__).parents[3]
_MOST_SIBLINGS = 500
_KERNEL_SETTINGS = tuple(
    f"/proc/{name}" for name in ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "driver", "mtrr")
)
_KERNEL_SECRETS = tuple(
    f"/proc/{name}" for name in ("kcore", "kmsg", "kpageflags", "kpagecount", "vmallocinfo")
)


def find_bubblewrap(roots: Iterable[Path]) -> str:
    """Return the system's bubblewrap by absolute path. One inside a workspace is never used."""
    candidates = (*_PLACES, shutil.which("bwrap") or "")
    inside = tuple(roots)
    for place in candidates:
        real = Path(os.path.realpath(place)) if place else None
        if real and os.access(real, os.X_OK) and not any(real.is_relative_to(root) for root in inside):
            return place
    return ""


@dataclass(frozen=True, slots=True)
class Layout:
    """The folders that are the same for every command of a session, as absolute paths with links resolved."""

    roots: tuple[Path, ...]
    homes: tuple[Path, ...]
    """The user's home folder, or two if the environment and the system name different ones."""
    own: tuple[Path, ...]
    """The program's configuration and data, hidden from commands."""
    readable: tuple[Path, ...]
    """The program's own folders that commands may read."""
    scratch: Path
    """The folder that commands see as /tmp."""
    caches: Path


class _Rank(IntEnum):
    """The order of mounts on the same path: the later one wins."""

    SIBLING = 0
    OPEN = 1
    GUARD = 2
    GRANT = 3


@dataclass(frozen=True, slots=True)
class _Mount:
    path: Path
    rank: _Rank
    words: tuple[str, ...]


def profile(
    program: str, layout: Layout, confinement: Confinement, guarded: tuple[Path, ...]
) -> tuple[str, ...]:
    """Return the arguments before the command.

    `guarded` paths exist, as user files or placeholders. Blocks.
    """
    mounts = [*_open(layout, confinement), *_guards(layout, confinement, guarded), *_grants(confinement)]
    # Outer folders first, because a later mount hides what is below it.
    mounts.sort(key=lambda mount: (len(mount.path.parts), mount.rank))
    network = () if confinement.network else ("--unshare-net",)
    whole = "--bind" if _EVERYTHING in layout.roots else "--ro-bind"
    base = (whole, "/", "/", "--dev", "/dev", "--proc", "/proc", *_kernel())
    return (program, *_ISOLATION, *network, *base, *(word for mount in mounts for word in mount.words))


def _kernel() -> Iterator[str]:
    """Protect kernel settings: root could write them as files, even without capabilities."""
    for path in _KERNEL_SETTINGS:
        yield from ("--ro-bind-try", path, path)
    for path in _KERNEL_SECRETS:
        if Path(path).exists():
            yield from ("--ro-bind", "/dev/null", path)


def _open(layout: Layout, confinement: Confinement) -> Iterator[_Mount]:
    for place in _TEMPORARY:
        yield _Mount(place, _Rank.OPEN, ("--bind", str(layout.scratch), str(place)))
    yield from _below_temporary(layout)
    for folder in (*layout.roots, layout.caches):
        if folder == _EVERYTHING:
            continue  # everything else is mounted on it
        yield _bind(folder, _Rank.OPEN, read_only=False)
    yield from _secrets(layout, confinement)
    for folder in layout.own:
        if folder.is_dir():
            yield _hide(folder)
    for folder in layout.readable:
        if folder.is_dir():
            yield _bind(folder, _Rank.GUARD, read_only=True)


def _below_temporary(layout: Layout) -> Iterator[_Mount]:
    """Show what the session's own /tmp would hide: a home folder, an outer repository, programs in use."""
    around = (folder for root in layout.roots for folder in root.parents if (folder / ".git").exists())
    for path in (*layout.homes, *around, *_environments()):
        if path.is_dir() and any(place in path.parents for place in _TEMPORARY):
            yield _bind(path, _Rank.OPEN, read_only=True)


def _environments() -> Iterator[Path]:
    """Return the folders of our own Python and code, and of the programs on the PATH.

    A program's files are next to its `bin`. A virtual environment needs the Python that created it.
    """
    # Language servers are searched in the first.
    for folder in (sys.prefix, sys.base_prefix, _OUR_CODE):
        yield Path(os.path.realpath(folder))
    for folder in map(Path, os.environ.get("PATH", "").split(os.pathsep)):
        if folder.is_absolute():
            prefix = folder.parent if folder.name == "bin" else folder
            yield Path(os.path.realpath(folder if prefix in _TEMPORARY else prefix))


def _secrets(layout: Layout, confinement: Confinement) -> Iterator[_Mount]:
    shown = {Path(os.path.realpath(path)) for path in confinement.visible}
    for place in secret_places(layout.homes, network=confinement.network):
        if place in shown:
            continue
        yield _hide(place)
        for path in shown:
            if path.is_relative_to(place) and path.exists():
                yield _bind(path, _Rank.OPEN, read_only=True)


def _guards(layout: Layout, confinement: Confinement, guarded: tuple[Path, ...]) -> Iterator[_Mount]:
    for path in guarded:
        # A mount applies to the target of a link.
        if path.exists():
            yield _bind(Path(os.path.realpath(path)), _Rank.GUARD, read_only=True)
    for root in layout.roots:
        also = (root / name for name in ALSO_GUARDED)
        nested = nested_repositories(root)
        # A mount point cannot be moved away and replaced.
        for folder in {folder for git in nested for folder in git.parents if root in folder.parents}:
            yield _bind(folder, _Rank.OPEN, read_only=False)
        for path in (*nested, *(path for path in also if path.exists())):
            if not path.is_symlink() and str(path) not in confinement.unguarded:
                yield _bind(path, _Rank.GUARD, read_only=True)


def _grants(confinement: Confinement) -> Iterator[_Mount]:
    for git in confinement.git:
        yield from _git(Path(git), is_setup=confinement.git_setup)
    for folder in (Path(os.path.realpath(folder)) for folder in confinement.folders):
        yield _bind(folder, _Rank.GRANT, read_only=False)
        if confinement.is_lasting:
            yield from _protected_in(folder)
    names_by_parent: dict[Path, set[str]] = {}
    for file in confinement.files:
        parent = Path(os.path.realpath(Path(file).parent))
        names_by_parent.setdefault(parent, set()).add(Path(file).name)
    for parent, names in names_by_parent.items():
        yield from _only_names(parent, names)


def _protected_in(folder: Path) -> Iterator[_Mount]:
    """Protect what other programs run in a writable folder. Commits to repositories stay possible."""
    for path in (folder / name for name in (*GUARDED, *ALSO_GUARDED) if name != ".git"):
        if path.exists():
            yield _bind(Path(os.path.realpath(path)), _Rank.GUARD, read_only=True)
    for git in (folder / ".git", *nested_repositories(folder)):
        if git.is_file():  # the pointer of a worktree
            yield _bind(Path(os.path.realpath(git)), _Rank.GUARD, read_only=True)
        yield from _git(git, is_setup=False)


def _git(git: Path, *, is_setup: bool) -> Iterator[_Mount]:
    for folder in git_folders(git):
        yield _bind(folder, _Rank.GRANT, read_only=False)
        for part in guarded_parts(folder, is_setup=is_setup):
            yield _bind(part, _Rank.GUARD, read_only=True)


def _only_names(parent: Path, names: set[str]) -> Iterator[_Mount]:
    """Allow creating and replacing `names` in `parent`, and nothing else there."""
    if parent == _EVERYTHING or not os.access(parent, os.R_OK):
        return
    siblings = [entry for entry in os.scandir(parent) if entry.name not in names and not entry.is_symlink()]
    if len(siblings) > _MOST_SIBLINGS:
        for name in names:
            if (parent / name).exists():
                yield _bind(parent / name, _Rank.GRANT, read_only=False)
        return
    yield _bind(parent, _Rank.GRANT, read_only=False)
    for entry in siblings:
        yield _Mount(Path(entry.path), _Rank.SIBLING, ("--ro-bind-try", entry.path, entry.path))


def _bind(path: Path, rank: _Rank, *, read_only: bool) -> _Mount:
    return _Mount(path, rank, ("--ro-bind" if read_only else "--bind", str(path), str(path)))


def _hide(path: Path) -> _Mount:
    words = ("--tmpfs", str(path)) if path.is_dir() else ("--ro-bind", "/dev/null", str(path))
    return _Mount(path, _Rank.GUARD, words)
