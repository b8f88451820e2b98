"""Look at the disk with bounded work: what a pattern matches, where paths lead, which files hold secrets."""

import os
from collections import deque
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from coder_tui.policy.paths import is_secret, may_name_a_secret, widened

MOST_GLOB_ENTRIES = 20_000
_MARKS = "*?["


@dataclass(slots=True)
class _Budget:
    left: int = MOST_GLOB_ENTRIES

    def spend(self) -> bool:
        self.left -= 1
        return self.left >= 0


@dataclass(slots=True)
class _GlobSearch:
    budget: _Budget = field(default_factory=_Budget)

    def below(self, folder: str, parts: list[str]) -> list[str]:
        if not parts:
            return [folder]
        first, rest = parts[0], parts[1:]
        if not first:
            # `*/` matches only folders.
            return self.below(folder, rest) if Path(folder or "/").is_dir() else []
        if not any(mark in first for mark in _MARKS):
            path = f"{folder}/{first}"
            return self.below(path, rest) if os.path.lexists(path) else []
        return [
            found for name in self._names(folder, first) for found in self.below(f"{folder}/{name}", rest)
        ]

    def _names(self, folder: str, pattern: str) -> list[str]:
        wanted, names = widened(pattern), []
        if not Path(folder or "/").is_dir():
            return []
        with os.scandir(folder or "/") as entries:
            for entry in entries:
                if not self.budget.spend():
                    raise OverflowError
                is_hidden = entry.name.startswith(".") and not wanted.startswith(".")
                if not is_hidden and fnmatchcase(entry.name, wanted):
                    names.append(entry.name)
        return names


def matches(folder: str, pattern: str) -> tuple[str, ...] | None:
    """Return the paths that match, or None if there are too many or a folder cannot be read."""
    try:
        return tuple(_GlobSearch().below(folder.rstrip("/"), pattern.split("/")))
    except (OSError, ValueError, OverflowError):
        return None


def resolved(path: str) -> str | None:
    """Resolve all links. Returns None if that fails, so that nothing is based on a guess."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return None


def is_link(path: str) -> bool:
    """Return whether the path is a link.

    One that cannot be checked counts as a link, as it may lead anywhere.
    """
    try:
        return Path(path).is_symlink()
    except (OSError, ValueError):
        return True


def exists(path: str) -> bool:
    return os.path.lexists(path)


MOST_SECRET_ENTRIES = 4_000
MOST_HIDDEN_ENTRIES = 20_000
_IGNORE_FILES = frozenset({".gitignore", ".ignore", ".rgignore"})


def secret_below(folder: str, *, has_hidden: bool) -> str | None:
    """Return a file with secrets below `folder`, empty if there is none, None if it is too large to check.

    `has_hidden` if the search also reads hidden and ignored files.
    """
    has_hidden = has_hidden or any(
        _brings_back_secrets(str(place / name)) for place in Path(folder).parents for name in _IGNORE_FILES
    )
    return _SecretSearch(has_hidden, () if has_hidden else _ignored(folder)).below(folder)


@dataclass(slots=True)
class _SecretSearch:
    has_hidden: bool
    ignored: tuple[str, ...]
    waiting: deque[str] = field(default_factory=deque)

    def below(self, folder: str) -> str | None:
        left = MOST_HIDDEN_ENTRIES if self.has_hidden else MOST_SECRET_ENTRIES
        self.waiting.append(folder)
        while self.waiting:
            current = self.waiting.popleft()
            entries = _entries(current)
            left -= len(entries)
            if left < 0:
                return None
            for name, is_folder in entries:
                if found := self._look(f"{current.rstrip('/')}/{name}", name, is_folder=is_folder):
                    return found
        return ""

    def _look(self, path: str, name: str, *, is_folder: bool) -> str:
        if name in _IGNORE_FILES and not self.has_hidden and _brings_back_secrets(path):
            return path
        if name == ".git" or (name.startswith(".") and not self.has_hidden):
            return ""
        shown = f"{name}/" if is_folder else name
        if any(fnmatchcase(text, pattern) for pattern in self.ignored for text in {name, shown}):
            return ""
        if is_folder:
            self.waiting.append(path)
            return ""
        return path if is_secret(path) else ""


def _entries(folder: str) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            return sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    except (OSError, ValueError):
        return []


def _lines(path: Path) -> list[str]:
    try:
        return [line.strip() for line in path.read_text(errors="replace").splitlines()]
    except (OSError, ValueError):
        return []


def _brings_back_secrets(path: str) -> bool:
    """Return whether the ignore file includes secrets again: `!` makes a search read hidden files."""
    return any(may_name_a_secret(line[1:]) for line in _lines(Path(path)) if line.startswith("!"))


def _ignored(folder: str) -> tuple[str, ...]:
    """Return the plain names and suffixes that `.gitignore` excludes. It counts only in a repository."""
    if not any((place / ".git").exists() for place in (Path(folder), *Path(folder).parents)):
        return ()
    patterns = [
        line for line in _lines(Path(folder, ".gitignore")) if line and not line.startswith(("#", "!"))
    ]
    return tuple(pattern.lstrip("/") for pattern in patterns if "/" not in pattern.strip("/"))
