"""A comparison of two versions of a file: what is the same, what changed, and what is not known.

Lines as files have them: each keeps its own end, and only a line feed ends one.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias


def split_lines(text: str) -> list[str]:
    """Split at line feeds only, which each line keeps: form feeds and the like are text."""
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def end_of(line: str) -> str:
    """Return CR LF, LF, or nothing for a last line without one."""
    if not line.endswith("\n"):
        return ""
    return "\r\n" if line.endswith("\r\n") else "\n"


def body_of(line: str) -> str:
    return line[: len(line) - len(end_of(line))]


JOINED_WITHIN = 6
"""Changes with at most so many lines between them are one hunk, as git has it with three lines of context."""


@dataclass(frozen=True, slots=True)
class Same:
    """Lines that both versions have; `old` and `new` count from 0."""

    old: int
    new: int
    lines: tuple[str, ...]

    @property
    def height(self) -> int:
        return len(self.lines)


@dataclass(frozen=True, slots=True)
class Change:
    """Lines that became others; one of the two may be nothing."""

    old: int
    new: int
    deleted: tuple[str, ...]
    added: tuple[str, ...]

    @property
    def height(self) -> int:
        return max(len(self.deleted), len(self.added))


@dataclass(frozen=True, slots=True)
class Gap:
    """Equal lines that a unified diff leaves out; `heading` is what it says of the place below."""

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
    """What is kept or rejected as one: the sections from `start` to before `stop`, changes at both ends."""

    id: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """The sections follow each other through both files; `notes` are words of a diff that are no lines."""

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
        """Whether one of the two files has nothing to show."""
        is_all_changed = all(isinstance(section, Change) for section in self.sections)
        return is_all_changed and not (self.additions and self.deletions)

    @property
    def mixes_line_ends(self) -> bool:
        """Whether some known lines end in CR LF and others in LF alone."""
        lines = [line for section in self.sections for line in _lines(section)]
        returns = sum(line.endswith("\r\n") for line in lines)
        return returns > 0 and any(end_of(line) == "\n" for line in lines)

    def hunk(self, id: str) -> Hunk:
        """Raises `KeyError` for an id that is not among the hunks."""
        return self.hunks[self._places[id]]

    def sections_of(self, ids: Iterable[str]) -> frozenset[int]:
        """The indexes of the changes that belong to these hunks."""
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


def grouped(sections: Sequence[Section], path: str) -> tuple[Hunk, ...]:
    """Hunks of changes that stand close."""
    spans: list[tuple[int, int]] = []
    for index, section in enumerate(sections):
        if not isinstance(section, Change):
            continue
        if spans and _is_close(sections[spans[-1][1] : index]):
            spans[-1] = (spans[-1][0], index + 1)
        else:
            spans.append((index, index + 1))
    return identified(sections, spans, path)


def _is_close(between: Sequence[Section]) -> bool:
    return all(isinstance(each, Same) and each.height <= JOINED_WITHIN for each in between)


def identified(sections: Sequence[Section], spans: Iterable[tuple[int, int]], path: str) -> tuple[Hunk, ...]:
    """Hunks with ids by file, place in the old one and content: the same whatever happens to other hunks."""
    seen: Counter[str] = Counter()
    hunks = []
    for start, stop in spans:
        digest = _digest(sections[start:stop], path)
        seen[digest] += 1
        # Equal lines added one by one at one place differ in nothing but their order.
        suffix = "" if seen[digest] == 1 else f"-{seen[digest]}"
        hunks.append(Hunk(digest + suffix, start, stop))
    return tuple(hunks)


def _digest(sections: Sequence[Section], path: str) -> str:
    digest = hashlib.sha256(f"{sections[0].old}\0{path}".encode("utf-8", "surrogatepass"))
    for section in sections:
        match section:
            case Change(deleted=deleted, added=added):
                digest.update(f"\0-{len(deleted)}+{len(added)}\0".encode())
                digest.update("".join((*deleted, *added)).encode("utf-8", "surrogatepass"))
            case _:
                digest.update(f"\0={section.height}".encode())
    return digest.hexdigest()[:12]
