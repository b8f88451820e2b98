"""Whether a search through a folder would come upon a file with secrets."""

import os
from collections import deque
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from coder_tui.policy.secrets import is_secret, may_name_a_secret

MOST_ENTRIES = 4_000
MOST_HIDDEN_ENTRIES = 20_000
_IGNORE_FILES = frozenset({".gitignore", ".ignore", ".rgignore"})


def secret_below(folder: str, *, has_hidden: bool) -> str | None:
    """A file with secrets in or below `folder`, empty if there is none, None if it is too big to tell.

    `has_hidden`: the search also reads hidden and ignored files.
    """
    has_hidden = has_hidden or any(
        _brings_back_secrets(str(place / name)) for place in Path(folder).parents for name in _IGNORE_FILES
    )
    return _Search(has_hidden, () if has_hidden else _ignored(folder)).below(folder)


@dataclass(slots=True)
class _Search:
    has_hidden: bool
    ignored: tuple[str, ...]
    waiting: deque[str] = field(default_factory=deque)

    def below(self, folder: str) -> str | None:
        left = MOST_HIDDEN_ENTRIES if self.has_hidden else MOST_ENTRIES
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
    """A line with `!` makes a search read what is hidden otherwise."""
    return any(may_name_a_secret(line[1:]) for line in _lines(Path(path)) if line.startswith("!"))


def _ignored(folder: str) -> tuple[str, ...]:
    """Plain names and endings that the folder's own list leaves out; it counts in a repository only."""
    if not any((place / ".git").exists() for place in (Path(folder), *Path(folder).parents)):
        return ()
    patterns = [
        line for line in _lines(Path(folder, ".gitignore")) if line and not line.startswith(("#", "!"))
    ]
    return tuple(pattern.lstrip("/") for pattern in patterns if "/" not in pattern.strip("/"))
