"""Reads the checked-out branch from git's own files: no process, nothing of the repository runs."""

from pathlib import Path

_LONGEST_HEAD = 4096


def read_branch(directory: Path) -> str:
    """Branch name, or a short commit id when none is checked out; empty outside a repository."""
    for folder in (directory, *directory.parents):
        if (git := _git_directory(folder / ".git")) is not None:
            return _named(_first_line(git / "HEAD"))
    return ""


def _git_directory(path: Path) -> Path | None:
    """A worktree or submodule has a file here that says where its directory is."""
    if path.is_dir():
        return path
    line = _first_line(path)
    if not line.startswith("gitdir:"):
        return None
    return path.parent / line.removeprefix("gitdir:").strip()


def _first_line(path: Path) -> str:
    try:
        if not path.is_file():
            return ""
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.readline(_LONGEST_HEAD).strip()
    except OSError:
        return ""  # unreadable is the same as absent: there is no branch to show


def _named(head: str) -> str:
    if head.startswith("ref:"):
        return head.removeprefix("ref:").strip().removeprefix("refs/heads/")
    return head[:7]
