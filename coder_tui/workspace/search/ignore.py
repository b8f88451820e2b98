"""Apply `.gitignore` files, for listings and for searching without ripgrep.

Patterns (`**/*.py`, `src/{a,b}/*`) match in time linear in the path, however they are written.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from coder_tui.shell.sandbox.protected import is_placeholder

_GLOBSTAR: Final = None
_MOST_ALTERNATIVES = 64
_Segment = re.Pattern[str] | None


class PatternError(ValueError):
    """The pattern is invalid; the message says why."""


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A pattern over relative paths with `/`. Without a slash it matches names at any depth."""

    alternatives: tuple[tuple[_Segment, ...], ...]
    endings: tuple[str, ...]
    """What a path must end in, whichever alternative it matches."""

    @classmethod
    def parse(cls, pattern: str) -> "PathPattern":
        texts = _expand_braces(pattern)
        return cls(tuple(_segments(text) for text in texts), tuple(_plain_end(text) for text in texts))

    def matches(self, path: str) -> bool:
        # Called for every file of a search; the ending rules out most of them.
        if not path.endswith(self.endings):
            return False
        name = path.rpartition("/")[2]
        for segments in self.alternatives:
            # Most paths fail by their last name alone.
            last = segments[-1] if segments else None
            if last is None or not last.fullmatch(name):
                continue
            # With only `**` in front, the name decides.
            if segments[:-1] == (_GLOBSTAR,) or _matches(segments, path.split("/")):
                return True
        return False


def _plain_end(pattern: str) -> str:
    """Return the characters after the last wildcard."""
    end = "" if "\\" in pattern else re.split(r"[*?\[\]/]", pattern)[-1]
    return "" if end == "." else end


def _segments(pattern: str) -> tuple[_Segment, ...]:
    parts = [part for part in pattern.split("/") if part not in {"", "."}]
    if "/" not in pattern.rstrip("/"):
        parts.insert(0, "**")
    segments: list[_Segment] = []
    for part in parts:
        if part == "**":
            if not segments or segments[-1] is not _GLOBSTAR:
                segments.append(_GLOBSTAR)
        else:
            segments.append(segment_regex(part))
    if segments and segments[-1] is _GLOBSTAR:
        # `dir/**` matches what is below the folder, not the folder.
        segments.append(segment_regex("*"))
    return tuple(segments)


def _matches(segments: tuple[_Segment, ...], names: list[str]) -> bool:
    """Match greedily: only the last `**` ever needs to take one more name."""
    at = place = 0
    retry: tuple[int, int] | None = None
    while place < len(names):
        if at < len(segments) and segments[at] is _GLOBSTAR:
            at += 1
            retry = (at, place)
            continue
        segment = segments[at] if at < len(segments) else None
        if segment is not None and segment.fullmatch(names[place]):
            at, place = at + 1, place + 1
        elif retry is not None:
            retry = (retry[0], retry[1] + 1)
            at, place = retry
        else:
            return False
    return at == len(segments)


@lru_cache(maxsize=1024)
def segment_regex(part: str) -> re.Pattern[str]:
    """Compile the pattern of one name; each `*` but the last is atomic, so nothing is tried twice."""
    chunks = [""]
    at = 0
    while at < len(part):
        character = part[at]
        if character == "*":
            chunks.append("")
            at += 1
            continue
        piece, at = _bracket(part, at) if character == "[" else _plain(part, at)
        chunks[-1] += piece
    if len(chunks) == 1:
        return re.compile(chunks[0], re.DOTALL)
    middle = "".join(f"(?>.*?{chunk})" for chunk in chunks[1:-1] if chunk)
    return re.compile(f"{chunks[0]}{middle}.*{chunks[-1]}", re.DOTALL)


def _plain(part: str, at: int) -> tuple[str, int]:
    if part[at] == "?":
        return ".", at + 1
    if part[at] == "\\" and at + 1 < len(part):
        return re.escape(part[at + 1]), at + 2
    return re.escape(part[at]), at + 1


def _bracket(part: str, at: int) -> tuple[str, int]:
    """Translate `[abc]`, `[!a-z]`; an unclosed bracket is literal."""
    start = at + 2 if part[at + 1 : at + 2] in {"!", "^"} else at + 1
    end = part.find("]", start + 1)
    if end < 0:
        return re.escape("["), at + 1
    body = re.sub(r"([\\\[\]&~|^])", r"\\\1", part[start:end])
    text = f"[{'^' if start == at + 2 else ''}{body}]"
    try:
        re.compile(text)
    except re.error as error:
        raise PatternError(f"bad character range {part[at : end + 1]!r}") from error
    return text, end + 1


def _expand_braces(pattern: str) -> list[str]:
    """Expand `{a,b}`, including nested ones, up to a limit."""
    done: list[str] = []
    pending = [pattern]
    while pending:
        text = pending.pop(0)
        group = re.search(r"(?<!\\)\{([^{}]*,[^{}]*)\}", text)
        if group is None:
            done.append(text)
        else:
            pending.extend(
                text[: group.start()] + choice + text[group.end() :] for choice in group[1].split(",")
            )
        if len(done) + len(pending) > _MOST_ALTERNATIVES:
            raise PatternError(f"more than {_MOST_ALTERNATIVES} alternatives in braces")
    return done


_LARGEST = 1024 * 1024


def is_in_repository(folder: Path) -> bool:
    return any(_begins_repository(place) for place in (folder, *folder.parents))


def _begins_repository(folder: Path) -> bool:
    try:
        git = folder / ".git"
        return git.exists() and not is_placeholder(git)
    except OSError:
        # It may not be readable, such as a database's folder of another user.
        return False


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: PathPattern
    is_exception: bool
    folders_only: bool


@dataclass(frozen=True, slots=True)
class IgnoreFile:
    """The rules of one folder's `.gitignore`; `is_top` if a repository begins here."""

    rules: tuple[_Rule, ...]
    is_top: bool

    @classmethod
    def read(cls, folder: Path) -> "IgnoreFile":
        try:
            with (folder / ".gitignore").open("rb") as file:
                text = file.read(_LARGEST).decode("utf-8", "surrogateescape")
        except OSError:
            # Missing, a folder or unreadable: then it has no rules, as for git.
            text = ""
        rules = (_parse(line) for line in text.split("\n"))
        return cls(tuple(rule for rule in rules if rule is not None), _begins_repository(folder))

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """Return whether `path`, relative to this folder, is ignored; None if no rule matches."""
        for rule in reversed(self.rules):
            if (is_folder or not rule.folders_only) and rule.pattern.matches(path):
                return not rule.is_exception
        return None


@dataclass(frozen=True, slots=True)
class IgnoreChain:
    """The ignore files that apply in a folder, its own last."""

    folder: str
    in_repository: bool
    files: tuple[IgnoreFile, ...]
    names: tuple[str, ...]
    """The folder names from the first file's folder to this one."""

    @classmethod
    def for_folder(cls, folder: Path) -> "IgnoreChain":
        """Collect the chain from the folder up to the top of its repository, or to the root."""
        files: list[IgnoreFile] = []
        names: list[str] = []
        for place in (folder, *folder.parents):
            files.insert(0, IgnoreFile.read(place))
            if files[0].is_top or place == place.parent:
                break
            names.insert(0, place.name)
        return cls(str(folder), files[0].is_top, tuple(files), tuple(names))

    def enter(self, name: str) -> "IgnoreChain":
        """Return the chain inside a subfolder; a nested repository starts a new one."""
        folder = f"{self.folder}/{name}"
        own = IgnoreFile.read(Path(folder))
        if own.is_top and self.in_repository:
            return IgnoreChain(folder, True, (own,), ())
        return IgnoreChain(folder, self.in_repository, (*self.files, own), (*self.names, name))

    @property
    def begins_repository(self) -> bool:
        """Return whether this folder is a repository's top."""
        return self.files[-1].is_top

    def ignores(self, name: str, *, is_folder: bool) -> bool:
        """Return whether an entry of this folder is ignored.

        The nearest file with a matching rule decides.
        """
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
