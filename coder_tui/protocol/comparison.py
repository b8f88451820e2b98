"""A comparison of two versions of a file: equal lines, changed lines, and gaps that are not known.

Lines keep their own line ending. Only a line feed ends a line.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias


def split_lines(text: str) -> list[str]:
    """Split at line feeds only, which each line keeps. Form feeds and the like are text."""
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def end_of(line: str) -> str:
    """Return the line ending: CR LF, LF, or nothing."""
    if not line.endswith("\n"):
        return ""
    return "\r\n" if line.endswith("\r\n") else "\n"


def body_of(line: str) -> str:
    return line[: len(line) - len(end_of(line))]


@dataclass(frozen=True, slots=True)
class Same:
    """Lines that both versions have. `old` and `new` count from 0."""

    old: int
    new: int
    lines: tuple[str, ...]

    @property
    def height(self) -> int:
        return len(self.lines)


@dataclass(frozen=True, slots=True)
class Change:
    """Lines that were replaced by others. Either side may be empty."""

    old: int
    new: int
    deleted: tuple[str, ...]
    added: tuple[str, ...]

    @property
    def height(self) -> int:
        return max(len(self.deleted), len(self.added))


@dataclass(frozen=True, slots=True)
class Gap:
    """Equal lines that a unified diff omits. `heading` is its text for the section below."""

    old: int
    new: int
    count: int
    heading: str = ""

    @property
    def height(self) -> int:
        return self.count


Section: TypeAlias = Same | Change | Gap


class FileState(StrEnum):
    CHANGED = "changed"
    CREATED = "created"
    DELETED = "deleted"
    RENAMED = "renamed"


@dataclass(frozen=True, slots=True)
class Hunk:
    """Changes that are kept or rejected together: the sections from `start` to before `stop`."""

    id: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """The sections cover both files in order. `notes` are texts of a diff that are not lines."""

    path: str
    sections: tuple[Section, ...]
    hunks: tuple[Hunk, ...]
    state: FileState = FileState.CHANGED
    old_path: str = ""
    notes: tuple[str, ...] = ()
    _places: dict[str, int] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._places.update({hunk.id: index for index, hunk in enumerate(self.hunks)})

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(section for section in self.sections if isinstance(section, Change))

    @property
    def additions(self) -> int:
        return sum(len(change.added) for change in self.changes)

    @property
    def deletions(self) -> int:
        return sum(len(change.deleted) for change in self.changes)

    @property
    def is_whole(self) -> bool:
        """Whether every line of both files is known."""
        return not any(isinstance(section, Gap) for section in self.sections)

    @property
    def is_one_sided(self) -> bool:
        """Whether one of the two files is empty."""
        is_all_changed = all(isinstance(section, Change) for section in self.sections)
        return is_all_changed and not (self.additions and self.deletions)

    @property
    def mixes_line_ends(self) -> bool:
        """Whether some known lines end in CR LF and others in LF alone."""
        lines = [line for section in self.sections for line in _lines(section)]
        returns = sum(line.endswith("\r\n") for line in lines)
        return returns > 0 and any(end_of(line) == "\n" for line in lines)

    def hunk(self, id: str) -> Hunk:
        """Return the hunk with this id. Raises `KeyError` if there is none."""
        return self.hunks[self._places[id]]

    def sections_of(self, ids: Iterable[str]) -> frozenset[int]:
        """Return the indexes of the changes in these hunks."""
        return frozenset(
            index
            for hunk in map(self.hunk, ids)
            for index in range(hunk.start, hunk.stop)
            if isinstance(self.sections[index], Change)
        )


def _lines(section: Section) -> tuple[str, ...]:
    match section:
        case Same(lines=lines):
            return lines
        case Change(deleted=deleted, added=added):
            return deleted + added
        case Gap():
            return ()
