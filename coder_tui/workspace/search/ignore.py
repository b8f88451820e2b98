"""What `.gitignore` files leave out, for listings and for searching without ripgrep."""

import re
from dataclasses import dataclass
from pathlib import Path

from coder_tui.shell.sandbox.protected import is_placeholder
from coder_tui.workspace.search.patterns import PathPattern, PatternError

_LARGEST = 1024 * 1024


def is_in_repository(folder: Path) -> bool:
    return any(_begins_repository(place) for place in (folder, *folder.parents))


def _begins_repository(folder: Path) -> bool:
    try:
        git = folder / ".git"
        return git.exists() and not is_placeholder(git)
    except OSError:
        # It may not be entered, as a database's folder of another user.
        return False


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: PathPattern
    is_exception: bool
    folders_only: bool


@dataclass(frozen=True, slots=True)
class IgnoreFile:
    """The rules of one folder's `.gitignore`; `is_top` where a repository begins."""

    rules: tuple[_Rule, ...]
    is_top: bool

    @classmethod
    def of(cls, folder: Path) -> "IgnoreFile":
        try:
            with (folder / ".gitignore").open("rb") as file:
                text = file.read(_LARGEST).decode("utf-8", "surrogateescape")
        except OSError:
            # Absent, a folder or unreadable: then it rules nothing, as for git.
            text = ""
        rules = (_parse(line) for line in text.split("\n"))
        return cls(tuple(rule for rule in rules if rule is not None), _begins_repository(folder))

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """Whether `path`, relative to this folder, is ignored; None when no rule speaks of it."""
        for rule in reversed(self.rules):
            if (is_folder or not rule.folders_only) and rule.pattern.matches(path):
                return not rule.is_exception
        return None


@dataclass(frozen=True, slots=True)
class IgnoreChain:
    """The ignore files that hold in a folder, its own last."""

    folder: str
    in_repository: bool
    files: tuple[IgnoreFile, ...]
    names: tuple[str, ...]
    """The names that lead from the first file's folder to this one."""

    @classmethod
    def for_folder(cls, folder: Path) -> "IgnoreChain":
        """Collect the chain from the folder up to where its repository begins, else to the top of all."""
        files: list[IgnoreFile] = []
        names: list[str] = []
        for place in (folder, *folder.parents):
            files.insert(0, IgnoreFile.of(place))
            if files[0].is_top or place == place.parent:
                break
            names.insert(0, place.name)
        return cls(str(folder), files[0].is_top, tuple(files), tuple(names))

    def enter(self, name: str) -> "IgnoreChain":
        """The chain inside a sub-folder; a repository within a repository begins anew."""
        folder = f"{self.folder}/{name}"
        own = IgnoreFile.of(Path(folder))
        if own.is_top and self.in_repository:
            return IgnoreChain(folder, True, (own,), ())
        return IgnoreChain(folder, self.in_repository, (*self.files, own), (*self.names, name))

    @property
    def begins_repository(self) -> bool:
        """Whether this very folder is a repository's top."""
        return self.files[-1].is_top

    def ignores(self, name: str, *, is_folder: bool) -> bool:
        """Whether an entry of this folder is ignored: the nearest file that speaks of it decides."""
        path = name
        for depth in range(len(self.files) - 1, -1, -1):
            file = self.files[depth]
            if file.rules:
                relative = "/".join((*self.names[depth:], path))
                verdict = file.verdict(relative, is_folder=is_folder)
                if verdict is not None:
                    return verdict
        return False


def _parse(line: str) -> _Rule | None:
    text = re.sub(r"(?<!\\)\s+$", "", line.rstrip("\r"))
    if not text or text.startswith("#"):
        return None
    is_exception = text.startswith("!")
    text = text.removeprefix("!")
    folders_only = text.endswith("/")
    # Braces are plain characters here.
    pattern = text.rstrip("/").replace("{", r"[{]")
    if not pattern:
        return None
    try:
        return _Rule(PathPattern.parse(pattern), is_exception, folders_only)
    except PatternError:
        return None
