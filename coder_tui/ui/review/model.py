"""What a person thinks of each hunk so far, and where they are: all that a review is, without the screen."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from coder_tui.agent.undo.review import WHOLE, Reviewed, units_of
from coder_tui.diffs.hunks import taken_apart
from coder_tui.diffs.model import Change, Comparison
from coder_tui.workspace.undo.changed_files import ChangedFile

MOST_STEPS = 200
"""Of one hunk; what is left of an endless one can be taken apart further."""
Key: TypeAlias = tuple[Path, str]
"""A hunk of a file; what was decided on it holds wherever it shows up again."""


@dataclass(frozen=True, slots=True)
class Counts:
    kept: int = 0
    rejected: int = 0
    open: int = 0


@dataclass(frozen=True, slots=True)
class ReviewedFile:
    change: ChangedFile
    comparison: Comparison

    @property
    def path(self) -> Path:
        return self.change.path

    @property
    def keys(self) -> tuple[Key, ...]:
        return tuple((self.path, unit) for unit in units_of(self.comparison))


@dataclass(frozen=True, slots=True)
class _Mind:
    """What was decided, said and taken apart; replaced as a whole, so that a step back is exact."""

    decisions: Mapping[Key, bool] = field(default_factory=dict)
    comments: Mapping[Key, str] = field(default_factory=dict)
    splits: tuple[Key, ...] = ()


class ReviewModel:
    """`files` are those in sight; the mark is on one of their hunks."""

    def __init__(self) -> None:
        self.files: tuple[ReviewedFile, ...] = ()
        self.is_turn_only = True
        self.stale: frozenset[Path] = frozenset()
        self.current: Key | None = None
        self._given: tuple[ReviewedFile, ...] = ()
        self._mind = _Mind()
        self._before: list[tuple[_Mind, Key | None]] = []

    def show(self, files: Iterable[tuple[ChangedFile, Comparison]], stale: frozenset[Path]) -> None:
        """These are the changes now; decisions on hunks that are still there hold."""
        self._given = tuple(ReviewedFile(change, comparison) for change, comparison in files)
        self.mark_stale(stale)

    def mark_stale(self, stale: frozenset[Path]) -> None:
        """Somebody else changed these files: nothing in them can be taken back, whatever was decided."""
        self.stale = stale
        kept = {
            key: verdict for key, verdict in self._mind.decisions.items() if verdict or key[0] not in stale
        }
        self._mind = replace(self._mind, decisions=kept)
        self._rebuild()

    @property
    def keys(self) -> tuple[Key, ...]:
        return tuple(key for file in self.files for key in file.keys)

    @property
    def place(self) -> int:
        """The number of the file that the mark is in."""
        path = self.current[0] if self.current is not None else None
        return next((place for place, file in enumerate(self.files) if file.path == path), 0)

    @property
    def file(self) -> ReviewedFile | None:
        return self.files[self.place] if self.files else None

    def decision(self, key: Key) -> bool | None:
        """Kept, rejected, or not decided yet."""
        return self._mind.decisions.get(key)

    def comment(self, key: Key) -> str:
        return self._mind.comments.get(key, "")

    def decisions_of(self, file: ReviewedFile) -> tuple[bool | None, ...]:
        return tuple(self.decision(key) for key in file.keys)

    def counts(self, files: Iterable[ReviewedFile] | None = None) -> Counts:
        made = [each for file in files or self.files for each in self.decisions_of(file)]
        return Counts(made.count(True), made.count(False), made.count(None))

    def reason_not_to_reject(self, file: ReviewedFile) -> str:
        name = file.path.name
        if file.change.is_too_large:
            return f"{name} is too large to be taken back here."
        return f"{name} changed on disk since: it cannot be taken back." if file.path in self.stale else ""

    def decide(self, verdict: bool | None, keys: Iterable[Key]) -> None:
        decisions = {**self._mind.decisions, **dict.fromkeys(keys, verdict)}
        given = {key: each for key, each in decisions.items() if each is not None}
        self._think(replace(self._mind, decisions=given))

    def say(self, key: Key, words: str) -> None:
        """Words on a hunk; none take back those that were there."""
        comments = {**self._mind.comments, key: words.strip()}
        self._think(replace(self._mind, comments={at: each for at, each in comments.items() if each}))

    def split(self, *, to_lines: bool = False) -> bool:
        """Take the marked hunk apart, by one step or down to its lines; False when it is a single line."""
        file, key = self.file, self.current
        if file is None or key is None or key[1] == WHOLE:
            return False
        steps, first = _steps_apart(file.comparison, key[1], MOST_STEPS if to_lines else 1)
        if not steps:
            return False
        mark = (key[0], first)
        comments = {(at if at != key else mark): each for at, each in self._mind.comments.items()}
        decisions = {at: each for at, each in self._mind.decisions.items() if at != key}
        splits = (*self._mind.splits, *((key[0], unit) for unit in steps))
        self._think(_Mind(decisions, comments, splits))
        self.current = mark
        return True

    def undo(self) -> bool:
        """Back to how things were before the last decision, comment or split; False when there was none."""
        if not self._before:
            return False
        self._mind, self.current = self._before.pop()
        self._rebuild()
        return True

    def go(self, key: Key) -> None:
        if key in self.keys:
            self.current = key

    def step_file(self, by: int) -> None:
        if self.files:
            self.current = self.files[max(0, min(self.place + by, len(self.files) - 1))].keys[0]

    def step(self, by: int) -> None:
        """To the next or previous hunk, through all files."""
        keys = self.keys
        if self.current is not None:
            at = keys.index(self.current) + by
            self.current = keys[max(0, min(at, len(keys) - 1))]

    def step_open(self, by: int) -> bool:
        """To the next or previous one that is undecided, round the end; False when all are decided."""
        keys = self.keys
        if self.current is None:
            return False
        at = keys.index(self.current)
        ahead = [keys[(at + by * distance) % len(keys)] for distance in range(1, len(keys) + 1)]
        found = next((key for key in ahead if self.decision(key) is None), None)
        self.current = found or self.current
        return found is not None

    def outcome(self) -> tuple[Reviewed, ...]:
        """The files in sight that something was rejected or said of."""
        found = (self._reviewed(file) for file in self.files)
        return tuple(each for each in found if each.rejected or each.comments)

    def forget_sent(self) -> None:
        """What was rejected is gone, what was said is said; what was kept stays kept."""
        kept = {key: verdict for key, verdict in self._mind.decisions.items() if verdict}
        self._mind = _Mind(kept, {}, self._mind.splits)
        self._before.clear()

    def _reviewed(self, file: ReviewedFile) -> Reviewed:
        rejected = frozenset(key[1] for key in file.keys if self.decision(key) is False)
        comments = {key[1]: words for key in file.keys if (words := self.comment(key))}
        return Reviewed(file.change, file.comparison, rejected, comments)

    def _think(self, mind: _Mind) -> None:
        self._before.append((self._mind, self.current))
        self._mind = mind
        self._rebuild()

    def _rebuild(self) -> None:
        """The files with their hunks as they were taken apart; the mark stays as near as it can."""
        place = self.place if self.files else 0
        self.files = tuple(_taken_apart(file, self._mind.splits) for file in self._given)
        keys = self.keys
        if self.current in keys:
            return
        same = [key for key in keys if self.current is not None and key[0] == self.current[0]]
        if same:
            self.current = same[0]
        elif self.files:
            self.current = self.files[min(place, len(self.files) - 1)].keys[0]
        else:
            self.current = None


def _steps_apart(comparison: Comparison, unit: str, most: int) -> tuple[list[str], str]:
    """Which hunks to take apart, one after the other, and the first of the pieces."""
    steps: list[str] = []
    waiting, first = [unit], unit
    while waiting and len(steps) < most:
        unit = waiting.pop(0)
        if steps and _is_line(comparison, unit):
            continue
        apart, known = taken_apart(comparison, unit), frozenset(units_of(comparison))
        if new := [each for each in units_of(apart) if each not in known]:
            first = new[0] if unit == first else first
            comparison, waiting = apart, [*new, *waiting]
            steps.append(unit)
    return steps, first


def _is_line(comparison: Comparison, unit: str) -> bool:
    hunk = comparison.hunk(unit)
    sections = comparison.sections[hunk.start : hunk.stop]
    return all(
        isinstance(each, Change) and len(each.deleted) <= 1 and len(each.added) <= 1 for each in sections
    )


def _taken_apart(file: ReviewedFile, splits: Iterable[Key]) -> ReviewedFile:
    comparison = file.comparison
    for path, unit in splits:
        if path == file.path and unit in units_of(comparison):
            comparison = taken_apart(comparison, unit)
    return replace(file, comparison=comparison)
