"""Parse git's reports: what can be staged, what is staged, which hooks would run."""

import asyncio
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.workspace.git.git import Git, Opened, complete_output
from coder_tui.workspace.git.repository import USE_BASH, Entry

STAGED = ("diff", "--cached", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none")
COMMIT_HOOKS = (
    *("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"),
    *("post-index-change", "reference-transaction"),
)
ADD_HOOKS = ("post-index-change",)
_WORDS = {"A": "new", "?": "new", "D": "deleted", "M": "changed", "T": "changed kind", "U": "conflict"}
_LARGEST_HOOK = 5_000_000


@dataclass(frozen=True, slots=True)
class Unstaged:
    """A file that differs from what is staged; `name` is relative to the repository's top."""

    name: str
    state: str


@dataclass(frozen=True, slots=True)
class Stageable:
    """What staging a path would include and leave out."""

    files: tuple[Unstaged, ...]
    ignored: tuple[str, ...]
    nested: tuple[str, ...]
    """Folders that are separate repositories."""


@dataclass(frozen=True, slots=True)
class StagedFile:
    """`additions` and `deletions` are None if the file is not text."""

    name: str
    state: str
    additions: int | None
    deletions: int | None


@dataclass(frozen=True, slots=True)
class Hook:
    name: str
    path: Path
    sha256: str


async def stageable(git: Git, opened: Opened, path: str) -> Stageable:
    """List what could be staged below the absolute `path`.

    Submodules have their own settings and are skipped.
    """
    listing = await git.listed(
        opened,
        *("status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=all"),
        *("--untracked-files=all", "--ignored=matching", "--", f":(literal){path}"),
    )
    files, ignored, nested = [], [], []
    for entry in listing.split("\0")[:-1]:
        code, name = entry[:2], entry[3:]
        if code == "!!":
            ignored.append(name)
        elif name.endswith("/"):
            nested.append(name)
        elif code[1] != " ":
            files.append(Unstaged(name, _word(code)))
    _require_names(opened, [file.name for file in files])
    return Stageable(tuple(files), tuple(ignored), tuple(nested))


async def staged(git: Git, opened: Opened) -> tuple[tuple[StagedFile, ...], str]:
    """Return what a commit would include, and a text that changes whenever that does."""
    raw = await git.listed(opened, *STAGED, "--raw", "--no-abbrev", "-z")
    counts = await git.listed(opened, *STAGED, "--numstat", "-z")
    fields = raw.split("\0")[:-1]
    states = {name: head.rsplit(" ", 1)[-1] for head, name in zip(fields[::2], fields[1::2], strict=True)}
    files = []
    for line in counts.split("\0")[:-1]:
        added, deleted, name = line.split("\t", 2)
        files.append(StagedFile(name, _word(states.get(name, "M")), _count(added), _count(deleted)))
    return tuple(files), raw


async def hooks(
    git: Git, opened: Opened, entries: tuple[Entry, ...], names: tuple[str, ...]
) -> tuple[Hook, ...]:
    """Return the hooks that git would run, in the order of `names`."""
    where = complete_output(await git.act(opened, entries, "rev-parse", "--git-path", "hooks")).rstrip("\n")
    return await asyncio.to_thread(_hooks_in, opened.top / where, names)


def _hooks_in(folder: Path, names: tuple[str, ...]) -> tuple[Hook, ...]:
    found = []
    for name in names:
        path = folder / name
        if path.is_file() and os.access(path, os.X_OK):
            with path.open("rb") as file:
                found.append(Hook(name, path, hashlib.sha256(file.read(_LARGEST_HOOK)).hexdigest()))
    return tuple(found)


def _word(code: str) -> str:
    if "U" in code or code in ("AA", "DD"):
        return _WORDS["U"]
    return _WORDS.get(code[-1], "changed")


def _count(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _require_names(opened: Opened, names: list[str]) -> None:
    # A name that is not UTF-8 contains replacement characters, so no such file is found.
    odd = [name for name in names if "\ufffd" in name and not os.path.lexists(opened.top / name)]
    if odd:
        raise ToolError(ErrorType.EXECUTION_FAILED, f"{odd[0]}: this name is not UTF-8 text.", USE_BASH)
