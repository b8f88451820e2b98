"""Where a path lies: inside the workspace, among the program's own files, in a repository's internals."""

from dataclasses import dataclass
from pathlib import PurePath


@dataclass(frozen=True, slots=True)
class Boundaries:
    """All absolute, symlinks resolved. `readable` may be read without asking though it lies outside."""

    roots: tuple[str, ...]
    own: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()


def is_within(path: str, folders: tuple[str, ...]) -> bool:
    """By path parts, so that `/ws-evil` is not inside `/ws`."""
    pure = PurePath(path)
    return any(pure.is_relative_to(folder) for folder in folders)


def is_git_internal(path: str) -> bool:
    # Case-folded: `.GIT/config` is the same file on a case-insensitive disk.
    return ".git" in (part.casefold() for part in PurePath(path).parts)


def is_own_configuration(path: str, boundaries: Boundaries) -> bool:
    if is_within(path, boundaries.own):
        return True
    return ".coder-tui" in (part.casefold() for part in PurePath(path).parts)


def shown_path(path: str, boundaries: Boundaries) -> str:
    """Relative to the first root that holds it, else as it is."""
    pure = PurePath(path)
    for root in boundaries.roots:
        if pure.is_relative_to(root):
            return str(pure.relative_to(root))
    return path
