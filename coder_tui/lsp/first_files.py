"""Finds a file of each language that a workspace has, for servers to begin with before they are needed."""

import os
from collections import deque
from pathlib import Path

from coder_tui.lsp.languages import language_of
from coder_tui.lsp.wire import LARGEST_TEXT
from coder_tui.policy.secrets import is_secret

MOST_ENTRIES = 2_000
"""So many files and folders are looked at, those near the top first."""
_NOT_OURS = frozenset({"node_modules", "__pycache__", "venv", "vendor", "target", "build", "dist"})
# Most projects have a few such files, and few sessions change one.
_ONLY_WHEN_NEEDED = frozenset({"json", "yaml"})


def first_files(root: Path) -> tuple[Path, ...]:
    """At most one a language, by its suffix. Blocks, for a moment only."""
    found: dict[str, Path] = {}
    folders = deque([root])
    left = MOST_ENTRIES
    while folders and left > 0:
        entries = _entries(folders.popleft())[:left]
        left -= len(entries)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(Path(entry.path))
            elif (language := language_of(Path(entry.path), "", {})) and _is_fit(entry):
                found.setdefault(language.key, Path(entry.path))
    return tuple(path for key, path in found.items() if key not in _ONLY_WHEN_NEEDED)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            kept = [
                entry for entry in entries if not entry.name.startswith(".") and entry.name not in _NOT_OURS
            ]
    except OSError:
        return []
    return sorted(kept, key=lambda entry: entry.name)


def _is_fit(entry: os.DirEntry[str]) -> bool:
    try:
        is_usual = entry.is_file(follow_symlinks=False) and entry.stat().st_size <= LARGEST_TEXT
    except OSError:
        return False
    return is_usual and not is_secret(entry.path)
