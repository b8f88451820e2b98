"""Find the repository of a folder, and refuse one that belongs to another user or leads elsewhere.

Also keeps git from running programs that a repository names: overrides settings, and lists the rest.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from coder_tui.protocol.errors import ErrorType, ToolError

USE_BASH = "You can run git with bash if the user agrees."
_LONGEST_POINTER = 8_192


@dataclass(frozen=True, slots=True)
class Repository:
    """`top` is the folder under version control, `git_dir` is where git stores its data."""

    top: Path
    git_dir: Path


def find_repository(folder: Path) -> Repository:
    """Return the repository that contains the resolved `folder`; raise `ToolError` if none. Blocks."""
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
                # Only a linked worktree has one; here it would disguise another repository as this one.
                raise _leads_elsewhere(mark)
            return Repository(top, mark)
    raise ToolError(
        ErrorType.NOT_A_REPOSITORY,
        f"{folder} is not in a git repository.",
        "If one is wanted, create it with bash: git init.",
    )


def foreign_owner(repository: Repository, environ: Mapping[str, str]) -> Path | None:
    """Return the part of the repository that belongs to another user, by git's `safe.directory` check."""
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
            f"The repository's settings say that its files are in {named}, not in {repository.top}.",
            USE_BASH,
        )


def not_installed() -> ToolError:
    return ToolError(
        ErrorType.NOT_INSTALLED,
        "git is not installed.",
        "Ask the user to install it (apt install git, brew install git), or work without it, through bash.",
    )


def belongs_to_another(part: Path) -> ToolError:
    return ToolError(
        ErrorType.PERMISSION_DENIED,
        f"{part} belongs to another user, and git would follow its settings.",
        f"The user can trust it: git config --global --add safe.directory {part}. {USE_BASH}",
    )


def _pointed_to(top: Path, mark: Path) -> Path:
    """Follow a `.git` file only to a linked worktree or a submodule that knows this folder."""
    text = _first_line(mark)
    if not text.startswith("gitdir:"):
        raise ToolError(ErrorType.NOT_A_REPOSITORY, f"{mark} is not a valid .git file.", USE_BASH)
    git_dir = Path(os.path.realpath(top / text.removeprefix("gitdir:").strip()))
    if not (git_dir / "HEAD").exists():
        raise ToolError(ErrorType.NOT_A_REPOSITORY, f"{mark} leads to no repository.", USE_BASH)
    if _is_worktree_of(git_dir, mark) or _is_submodule(git_dir, top):
        return git_dir
    raise _leads_elsewhere(mark)


def _is_worktree_of(git_dir: Path, mark: Path) -> bool:
    """Return whether the repository points back: the author of the `.git` file cannot write there."""
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
        f"{mark} presents a repository from elsewhere as this folder's, so it is not read.",
        USE_BASH,
    )


Pairs = Mapping[str, str]
_FILTER = re.compile(r"filter\.(?s:.*)\.(clean|smudge|process|required)")
_SIGNERS = {
    "gpg.program": "gpg",
    "gpg.openpgp.program": "gpg",
    "gpg.x509.program": "gpgsm",
    "gpg.ssh.program": "ssh-keygen",
    "gpg.ssh.defaultkeycommand": "",
}
_HOOK_COMMAND = re.compile(r"hook\.(?s:.*)\.command")
_OF_THE_REPOSITORY = frozenset({"local", "worktree"})

# A setting that cannot be emptied gets a value that does nothing.
_ALWAYS: Pairs = {
    "core.fsmonitor": "false",
    "core.pager": "cat",
    "core.editor": ":",
    "core.quotePath": "false",
    "safe.bareRepository": "explicit",
    "submodule.recurse": "false",
    "status.submoduleSummary": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "color.ui": "false",
    "color.status": "false",
    "color.diff": "false",
    "column.ui": "never",
    "column.status": "never",
    "advice.statusHints": "false",
    "i18n.logOutputEncoding": "utf-8",
}
_READING: Pairs = {
    **_ALWAYS,
    "core.hooksPath": "/dev/null",
    "core.attributesFile": "/dev/null",
    "core.sshCommand": "/bin/false",
    "core.askPass": "/bin/false",
    "core.alternateRefsCommand": "/bin/false",
    "credential.helper": "",
    "protocol.allow": "never",
    "diff.orderFile": "/dev/null",
    "diff.ignoreSubmodules": "all",
    "log.showSignature": "false",
    **dict.fromkeys(
        ("gpg.program", "gpg.ssh.program", "gpg.x509.program", "gpg.openpgp.program"), "/bin/false"
    ),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One setting as git lists it; `scope` separates the repository's own from the user's."""

    scope: str
    key: str
    value: str

    @property
    def is_of_the_repository(self) -> bool:
        return self.scope in _OF_THE_REPOSITORY


def parse_listing(text: str) -> tuple[Entry, ...]:
    """Parse `git config --list --show-scope -z`: scope and setting alternate."""
    fields = text.split("\0")
    entries = []
    for scope, setting in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = setting.partition("\n")
        entries.append(Entry(scope, key, value))
    return tuple(entries)


def for_reading(entries: Iterable[Entry], excludes: str) -> dict[str, str]:
    """Return overrides under which nothing but git itself runs."""
    return {**_READING, "core.excludesFile": excludes, **_without_filters(entries)}


def for_acting(entries: Iterable[Entry], *, filters: bool) -> dict[str, str]:
    """Return overrides for what the user approved.

    The signing program is the user's, not the repository's.
    """
    known = tuple(entries)
    return {**_ALWAYS, **({} if filters else _without_filters(known)), **_own_signers(known)}


def programs_of_repository(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return the filters that the repository's own settings run on files, without empty ones."""
    return tuple(
        entry
        for entry in entries
        if entry.is_of_the_repository
        and entry.value
        and _FILTER.fullmatch(entry.key)
        and entry.key.endswith((".clean", ".process"))
    )


def configured_hooks(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    return tuple(
        entry for entry in entries if entry.is_of_the_repository and _HOOK_COMMAND.fullmatch(entry.key)
    )


def last_value(entries: Iterable[Entry], key: str) -> str:
    values = [entry.value for entry in entries if entry.key == key]
    return values[-1] if values else ""


def _without_filters(entries: Iterable[Entry]) -> dict[str, str]:
    found = (entry.key for entry in entries if entry.is_of_the_repository and _FILTER.fullmatch(entry.key))
    return {key: "false" if key.endswith(".required") else "" for key in found}


def _own_signers(entries: tuple[Entry, ...]) -> dict[str, str]:
    named = {entry.key for entry in entries if entry.is_of_the_repository and entry.key in _SIGNERS}
    own = {entry.key: entry.value for entry in entries if not entry.is_of_the_repository}
    return {key: own.get(key, _SIGNERS[key]) for key in named}
