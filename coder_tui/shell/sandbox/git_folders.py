"""Where a repository keeps its files, when `.git` is not simply a folder."""

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

_POINTER = "gitdir: "
# Git runs what these say, or looks for it where they say.
_HOOKS = ("hooks",)
_SETUP = ("config", "config.worktree", "commondir")
_MOST_MODULES = 200


def git_folders(git: Path) -> tuple[Path, ...]:
    """The folders that a commit writes to; for the `.git` of a worktree those that it points to.

    A pointer is believed only where the other side points back: a cloned project could name any folder.
    """
    if git.is_symlink():
        return ()
    if git.is_dir():
        return (git,)
    own = _target(git, git.parent)
    if own is None or _points_to(own / "gitdir") != git:
        return ()
    shared = own.parent.parent
    is_worktree = own.parent.name == "worktrees" and (shared / "HEAD").is_file()
    return (shared,) if is_worktree else ()


def guarded_parts(folder: Path, *, is_setup: bool) -> tuple[Path, ...]:
    """What stays as it is while a repository is written; of its submodules, too. Only what exists."""
    names = _HOOKS if is_setup else _HOOKS + _SETUP
    folders = (folder, *islice(_modules(folder), _MOST_MODULES))
    return tuple(place / name for place in folders for name in names if (place / name).exists())


def _modules(folder: Path) -> Iterator[Path]:
    """Where submodules keep their files; their names may be paths."""
    waiting = [folder / "modules"]
    while waiting:
        place = waiting.pop()
        if (place / "HEAD").is_file() or (place / "config").is_file():
            yield place
            waiting.append(place / "modules")
        elif place.is_dir() and not place.is_symlink():
            waiting += (entry for entry in place.iterdir() if entry.is_dir())


@contextlib.contextmanager
def nothing_new_in(folders: Iterable[Path], *, is_setup: bool) -> Iterator[None]:
    """Remove afterwards what git would run or follow and was not there before.

    A mount cannot guard these names: git stumbles over an empty one.
    """
    names = _HOOKS if is_setup else _HOOKS + _SETUP
    missing = [folder / name for folder in folders for name in names if not os.path.lexists(folder / name)]
    try:
        yield
    finally:
        for path in missing:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _target(git: Path, base: Path) -> Path | None:
    text = _line(git)
    if not text.startswith(_POINTER):
        return None
    return Path(os.path.realpath(base / text.removeprefix(_POINTER)))


def _points_to(file: Path) -> Path | None:
    text = _line(file)
    return Path(os.path.realpath(text)) if text else None


def _line(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="surrogateescape") as opened:
            return opened.readline(4096).strip()
    except OSError:
        return ""
