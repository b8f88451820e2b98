"""Survey the files of some folders, with a mark on each that shows whether it has changed."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from coder_tui.shell.sandbox.protected import GUARDED, is_placeholder
from coder_tui.storage.manifest import FileKind
from coder_tui.workspace.search.ignore import IgnoreChain

IGNORED = "ignored by git"
REPOSITORY = "git's own folder"
RECREATED = "recreated by its own tool"
TOO_LARGE = "too large"
TOO_MANY = "too many files"
UNREADABLE = "cannot be read"
_RECREATED = frozenset(
    {"node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
)


@dataclass(frozen=True, slots=True)
class SurveyLimits:
    """What exceeds them has no copy, and that is reported."""

    most_files: int = 50_000
    largest_bytes: int = 10_000_000


@dataclass(frozen=True, slots=True)
class Mark:
    """Nobody can change a file and keep all of this: only the system sets `changed_ns`."""

    kind: FileKind
    size: int = 0
    modified_ns: int = 0
    changed_ns: int = 0
    inode: int = 0
    mode: int = 0


@dataclass(slots=True)
class Survey:
    """`marks` by absolute path; `uncovered` says why a path, and everything below it, has no mark."""

    marks: dict[str, Mark] = field(default_factory=dict)
    uncovered: dict[str, str] = field(default_factory=dict)
    is_whole: bool = True

    def covers(self, path: str) -> bool:
        """Return whether a path would have a mark if it had existed."""
        place = Path(path)
        return self.is_whole and not any(str(each) in self.uncovered for each in (place, *place.parents))


def survey(roots: tuple[Path, ...], limits: SurveyLimits) -> Survey:
    """Walk through `roots` without following links. Blocks."""
    found = Survey()
    for root in roots:
        for path, entry in _walk(root, found):
            if len(found.marks) >= limits.most_files:
                found.uncovered[str(root)] = TOO_MANY
                found.is_whole = False
                return found
            _note(path, entry, found, limits)
    return found


def mark_of(path: str) -> Mark:
    """Return the mark of a path, even if it does not exist; raise `OSError` if it cannot be read."""
    try:
        return _mark(os.lstat(path))
    except (FileNotFoundError, NotADirectoryError):
        return Mark(FileKind.ABSENT)


def _note(path: str, entry: os.DirEntry[str], found: Survey, limits: SurveyLimits) -> None:
    try:
        mark = _mark(entry.stat(follow_symlinks=False))
    except FileNotFoundError:
        return
    except OSError:
        # Its folder can be listed but not entered.
        found.uncovered[path] = UNREADABLE
        return
    if mark.kind is FileKind.FILE and mark.size > limits.largest_bytes:
        found.uncovered[path] = TOO_LARGE
    else:
        found.marks[path] = mark


def _mark(status: os.stat_result) -> Mark:
    mode = status.st_mode
    if stat.S_ISDIR(mode):
        # The content of a folder has its own marks.
        return Mark(FileKind.FOLDER, mode=stat.S_IMODE(mode))
    kind = FileKind.OTHER
    if stat.S_ISREG(mode):
        kind = FileKind.FILE
    elif stat.S_ISLNK(mode):
        kind = FileKind.LINK
    return Mark(
        kind, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, stat.S_IMODE(mode)
    )


def _walk(root: Path, found: Survey) -> Iterator[tuple[str, os.DirEntry[str]]]:
    waiting = [(str(root), IgnoreChain.for_folder(root))]
    while waiting:
        folder, chain = waiting.pop()
        for entry in _entries(folder, found):
            path = f"{folder}/{entry.name}"
            is_folder = entry.is_dir(follow_symlinks=False)
            # Another command's sandbox reserves the name: there is nothing.
            if is_folder and entry.name in GUARDED and is_placeholder(Path(path)):
                continue
            if reason := _left_out(entry.name, chain, is_folder=is_folder):
                found.uncovered[path] = reason
                continue
            yield path, entry
            if is_folder:
                waiting.append((path, chain.enter(entry.name)))


def _entries(folder: str, found: Survey) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except FileNotFoundError:
        return []
    except OSError:
        found.uncovered[folder] = UNREADABLE
        return []


def _left_out(name: str, chain: IgnoreChain, *, is_folder: bool) -> str:
    if name == ".git":
        return REPOSITORY
    if chain.in_repository:
        return IGNORED if chain.ignores(name, is_folder=is_folder) else ""
    return RECREATED if is_folder and is_made_again(name) else ""


def is_made_again(folder: str) -> bool:
    """Return whether a folder of this name is filled by a tool, not by hand."""
    return folder in _RECREATED
