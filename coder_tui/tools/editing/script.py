"""A change as the model wrote it, line by line: what stays, what goes, what comes."""

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import groupby

from rapidfuzz import fuzz

from coder_tui.diffs.line_match import Run, matching_runs

_ALIKE = 50.0
_COMPARED = 500


class Mark(StrEnum):
    KEEP = " "
    DROP = "-"
    ADD = "+"


@dataclass(frozen=True, slots=True)
class ScriptLine:
    """`has_end` is false where the model says that no newline follows."""

    mark: Mark
    text: str
    has_end: bool = True


@dataclass(frozen=True, slots=True)
class Group:
    """A stretch of change between kept lines: `drops` lines go from old line `at` on, `adds` lines come."""

    at: int
    drops: int
    adds: int
    is_line_by_line: bool
    """Whether each line that comes is plainly the new form of one that goes."""
    is_blank: bool
    """Whether nothing but blank lines goes and comes."""


@dataclass(frozen=True)
class Script:
    """The old side is sought in the file; only the difference to the new side is carried over."""

    lines: tuple[ScriptLine, ...]

    @classmethod
    def between(cls, old: list[str], new: list[str]) -> "Script":
        """Tell the change from its two sides."""
        lines: list[ScriptLine] = []
        old_at = new_at = 0
        for run in [*matching_runs(old, new), Run(len(old), len(new), 0)]:
            lines += [ScriptLine(Mark.DROP, text) for text in old[old_at : run.old]]
            lines += [ScriptLine(Mark.ADD, text) for text in new[new_at : run.new]]
            lines += [ScriptLine(Mark.KEEP, text) for text in old[run.old : run.old + run.length]]
            old_at, new_at = run.old + run.length, run.new + run.length
        return cls(tuple(lines))

    @cached_property
    def old_lines(self) -> tuple[ScriptLine, ...]:
        return tuple(line for line in self.lines if line.mark is not Mark.ADD)

    @cached_property
    def old(self) -> tuple[str, ...]:
        return tuple(line.text for line in self.old_lines)

    @cached_property
    def new(self) -> tuple[str, ...]:
        return tuple(line.text for line in self.lines if line.mark is not Mark.DROP)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        found: list[Group] = []
        at = 0
        for is_kept, run in groupby(self.lines, key=lambda line: line.mark is Mark.KEEP):
            lines = list(run)
            dropped = [line.text for line in lines if line.mark is Mark.DROP]
            if not is_kept:
                added = [line.text for line in lines if line.mark is Mark.ADD]
                is_blank = not any(text.strip() for text in dropped + added)
                alike = _are_line_by_line(dropped, added)
                found.append(Group(at, len(dropped), len(added), alike, is_blank))
            at += len(lines) if is_kept else len(dropped)
        return tuple(found)

    @cached_property
    def significant(self) -> int:
        """How many characters of the old side are not blank, counted up to where it stops to matter."""
        return sum(len(text) - text.count(" ") - text.count("\t") for text in self.old[:200])

    @cached_property
    def size(self) -> int:
        """How many characters there are in it."""
        return sum(len(line.text) for line in self.lines)

    @property
    def changes_nothing(self) -> bool:
        ends = {line.has_end for line in self.lines}
        return self.old == self.new and len(ends) < 2

    def with_keeps(self, texts: dict[int, str]) -> "Script":
        """Replace the text of kept lines, by their index among all lines."""
        lines = tuple(
            replace(line, text=texts.get(index, line.text)) for index, line in enumerate(self.lines)
        )
        return Script(lines)


def _are_line_by_line(dropped: list[str], added: list[str]) -> bool:
    if len(dropped) != len(added):
        return False
    pairs = zip(dropped, added, strict=True)
    return all(fuzz.ratio(old[:_COMPARED].strip(), new[:_COMPARED].strip()) >= _ALIKE for old, new in pairs)
