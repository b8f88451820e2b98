"""Where a path lies: inside the workspace, among the program's own files, in a repository's internals."""

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath

# Editors, hooks and other agents run what these say, or take permissions from them, and nobody starts that.
_PROGRAM_FOLDERS = frozenset(
    {
        ".vscode",
        ".idea",
        ".zed",
        ".fleet",
        ".devcontainer",
        ".claude",
        ".gemini",
        ".codex",
        ".cursor",
        ".opencode",
        ".windsurf",
        ".continue",
        ".qwen",
        ".crush",
        ".kiro",
        ".roo",
        ".amazonq",
        ".junie",
        ".husky",
        ".githooks",
        ".lefthook",
        ".mise",
        ".hg",
        ".jj",
    }
)
_PROGRAM_PAIRS = frozenset({(".config", "mise"), (".cargo", "config"), (".cargo", "config.toml")})
_PROGRAM_FILE = re.compile(
    r"\.mcp\.json|\.?(opencode|crush)\.jsonc?|\.aider\.conf\.ya?ml|.*\.code-workspace"
    r"|\.envrc|\.?mise(\.[\w-]+)*\.toml|\.yarnrc(\.ya?ml)?"
    r"|\.pre-commit-config\.ya?ml|\.?lefthook(-local)?\.(ya?ml|toml|json)|\.overcommit\.yml"
    r"|\.exrc|\.n?vimrc|\.nvim\.lua|\.lvimrc|\.dir-locals(-2)?\.el"
)
_TOP = "/"


@dataclass(frozen=True, slots=True)
class Boundaries:
    """All absolute, symlinks resolved. `readable` may be read without asking though it lies outside."""

    roots: tuple[str, ...]
    own: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    """The user's home folder; two if the environment names another than the system."""

    @property
    def wide_roots(self) -> tuple[str, ...]:
        """The roots that contain a home folder or the whole system."""
        return tuple(
            root
            for root in self.roots
            if root == _TOP or any(is_within(home, (root,)) for home in self.homes)
        )


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


def is_program_file(path: str, boundaries: Boundaries) -> bool:
    """Return whether other programs run code or grant permissions because of what this file says."""
    holding = [PurePath(root) for root in boundaries.roots if is_within(path, (root,))]
    pure = PurePath(path)
    if holding:
        # A workspace may lie below such a folder: only its own name and what is inside counts.
        inner = max(holding, key=lambda root: len(root.parts))
        pure = PurePath(inner.name) / pure.relative_to(inner)
    parts = tuple(part.casefold() for part in pure.parts)
    return (
        not _PROGRAM_FOLDERS.isdisjoint(parts)
        or any(pair in _PROGRAM_PAIRS for pair in pairwise(parts))
        or bool(parts and _PROGRAM_FILE.fullmatch(parts[-1]))
    )


def is_personal(path: str, boundaries: Boundaries) -> bool:
    """Return whether the path is in the workspace only because that contains the home folder or the system.

    This applies to hidden names of the home folder and to everything outside of it.
    """
    wide = boundaries.wide_roots
    narrow = tuple(root for root in boundaries.roots if root not in wide)
    if not is_within(path, wide) or is_within(path, narrow):
        return False
    homes = [home for home in boundaries.homes if home != _TOP and is_within(path, (home,))]
    inside = (PurePath(path).relative_to(home).parts for home in homes)
    return not homes or any(parts and parts[0].startswith(".") for parts in inside)


def shown_path(path: str, boundaries: Boundaries) -> str:
    """Relative to the first root that holds it, else as it is."""
    pure = PurePath(path)
    for root in boundaries.roots:
        if pure.is_relative_to(root):
            return str(pure.relative_to(root))
    return path
