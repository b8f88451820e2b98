"""Which names a shell's pattern stands for now, looked up with a bound on the work."""

import os
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from coder_tui.policy.secrets import widened

MOST_ENTRIES = 20_000
_MARKS = "*?["


@dataclass(slots=True)
class _Budget:
    left: int = MOST_ENTRIES

    def spend(self) -> bool:
        self.left -= 1
        return self.left >= 0


@dataclass(slots=True)
class _Search:
    budget: _Budget = field(default_factory=_Budget)

    def below(self, folder: str, parts: list[str]) -> list[str]:
        if not parts:
            return [folder]
        first, rest = parts[0], parts[1:]
        if not first:
            # `*/` stands for folders alone.
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
    """Paths that fit; None where there are too many to look at, or a folder cannot be read."""
    try:
        return tuple(_Search().below(folder.rstrip("/"), pattern.split("/")))
    except (OSError, ValueError, OverflowError):
        return None
