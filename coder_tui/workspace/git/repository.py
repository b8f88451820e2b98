"""Finds git and the repository of a folder, and refuses one that is somebody else's or leads elsewhere."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coder_tui.protocol.errors import ErrorType, ToolError

USE_BASH = "With bash you can run git yourself, once the person agrees."
_LONGEST_POINTER = 8_192


@dataclass(frozen=True, slots=True)
class Repository:
    """`top` is the folder that is under version control, `git_dir` where git keeps what it knows of it."""

    top: Path
    git_dir: Path


def find_repository(folder: Path) -> Repository:
    """The repository that `folder`, resolved, lies in. Reads only; raises `ToolError`. Blocks."""
    try:
        return _found(folder)
    except OSError as error:
        message = f"{error.filename} cannot be read: {error.strerror}."
        raise ToolError(ErrorType.EXECUTION_FAILED, message, USE_BASH) from error


def _found(folder: Path) -> Repository:
    for top in (folder, *folder.parents):
        mark = top / ".git"
        if mark.is_symlink():
            raise _leads_elsewhere(mark)
        if mark.is_file():
            return Repository(top, _pointed_to(top, mark))
        if (mark / "HEAD").is_file() or (mark / "HEAD").is_symlink():
            if (mark / "commondir").exists():
                # Only a linked worktree has one: here it would pass another repository off as this one.
                raise _leads_elsewhere(mark)
            return Repository(top, mark)
    raise ToolError(
        ErrorType.NOT_A_REPOSITORY,
        f"{folder} is not in a git repository.",
        "If one is wanted, make it with bash: git init.",
    )


def foreign_owner(repository: Repository, environ: Mapping[str, str]) -> Path | None:
    """The part of the repository that belongs to another user, as git's `safe.directory` check sees it."""
    mine = {os.geteuid()}
    if os.geteuid() == 0 and environ.get("SUDO_UID", "").isdecimal():
        mine.add(int(environ["SUDO_UID"]))
    parts = (repository.top, repository.top / ".git", repository.git_dir, _common(repository.git_dir))
    return next((part for part in parts if part.lstat().st_uid not in mine), None)


def require_own_worktree(repository: Repository, named: str) -> None:
    """Refuse a `core.worktree` that is not the folder itself: what is staged would come from elsewhere."""
    if named and os.path.realpath(repository.git_dir / named) != str(repository.top):
        raise ToolError(
            ErrorType.PERMISSION_DENIED,
            f"The repository's settings say that its files lie in {named}, not in {repository.top}.",
            USE_BASH,
        )


def not_installed() -> ToolError:
    return ToolError(
        ErrorType.NOT_INSTALLED,
        "git is not installed.",
        "Ask the person to install it (apt install git, brew install git), or do without; bash has the rest.",
    )


def belongs_to_another(part: Path) -> ToolError:
    return ToolError(
        ErrorType.PERMISSION_DENIED,
        f"{part} belongs to another user, whose settings git would follow.",
        f"The person can vouch for it: git config --global --add safe.directory {part}. {USE_BASH}",
    )


def _pointed_to(top: Path, mark: Path) -> Path:
    """Follow a `.git` file only to a linked worktree or a submodule that knows of this folder."""
    text = _first_line(mark)
    if not text.startswith("gitdir:"):
        raise ToolError(ErrorType.NOT_A_REPOSITORY, f"{mark} is not what git writes there.", USE_BASH)
    git_dir = Path(os.path.realpath(top / text.removeprefix("gitdir:").strip()))
    if not (git_dir / "HEAD").exists():
        raise ToolError(ErrorType.NOT_A_REPOSITORY, f"{mark} leads to no repository.", USE_BASH)
    if _is_worktree_of(git_dir, mark) or _is_submodule(git_dir, top):
        return git_dir
    raise _leads_elsewhere(mark)


def _is_worktree_of(git_dir: Path, mark: Path) -> bool:
    """The repository must point back: whoever wrote the `.git` file cannot write there."""
    common = _common(git_dir)
    back = _first_line(git_dir / "gitdir")
    return git_dir.parent == common / "worktrees" and bool(back) and os.path.realpath(back) == str(mark)


def _is_submodule(git_dir: Path, top: Path) -> bool:
    if (git_dir / "commondir").exists():
        return False
    return any(
        (above / ".git").is_dir() and git_dir.is_relative_to(above / ".git" / "modules")
        for above in top.parents
    )


def _common(git_dir: Path) -> Path:
    pointer = _first_line(git_dir / "commondir")
    return Path(os.path.realpath(git_dir / pointer)) if pointer else git_dir


def _first_line(path: Path) -> str:
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return os.fsdecode(file.read(_LONGEST_POINTER)).split("\n", 1)[0].strip("\r")


def _leads_elsewhere(mark: Path) -> ToolError:
    return ToolError(
        ErrorType.PERMISSION_DENIED,
        f"{mark} passes a repository from elsewhere off as this folder's; it is not read.",
        USE_BASH,
    )
