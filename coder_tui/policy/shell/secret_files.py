"""Whether a search through a folder would come upon a file with secrets."""

import os
from collections import deque
from fnmatch import fnmatchcase
from pathlib import Path

from coder_tui.policy.secrets import is_secret

MOST_ENTRIES = 4_000
MOST_HIDDEN_ENTRIES = 20_000
# Big, and nobody's own.
_SKIPPED = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__", "target", "dist"})


def secret_below(folder: str, *, has_hidden: bool) -> str | None:
    """A file with secrets in or below `folder`, empty if there is none, None if it is too big to tell.

    `has_hidden`: the search also reads hidden and ignored files.
    """
    ignored = () if has_hidden else _ignored(folder)
    waiting, left = deque([folder]), MOST_HIDDEN_ENTRIES if has_hidden else MOST_ENTRIES
    while waiting:
        current = waiting.popleft()
        for name, is_folder in _entries(current):
            left -= 1
            if left < 0:
                return None
            if name in _SKIPPED or (name.startswith(".") and not has_hidden):
                continue
            if any(fnmatchcase(name, pattern) for pattern in ignored):
                continue
            path = f"{current.rstrip('/')}/{name}"
            if is_folder:
                waiting.append(path)
            elif is_secret(path):
                return path
    return ""


def _entries(folder: str) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            return sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    except (OSError, ValueError):
        return []


def _ignored(folder: str) -> tuple[str, ...]:
    """Plain names and endings that the folder's own list leaves out; one exception makes it moot."""
    try:
        lines = Path(folder, ".gitignore").read_text(errors="replace").splitlines()
    except (OSError, ValueError):
        return ()
    patterns = [line.strip().strip("/") for line in lines if line.strip() and not line.startswith("#")]
    if any(pattern.startswith("!") for pattern in patterns):
        return ()
    return tuple(pattern for pattern in patterns if "/" not in pattern)
