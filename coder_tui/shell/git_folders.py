"""Where a repository keeps its files, when `.git` is not simply a folder."""

import os
from pathlib import Path

_POINTER = "gitdir: "


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
