"""The state of a review without the screen: decisions and comments so far, and the current hunk."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from coder_tui.agent.undo.review import WHOLE, Reviewed, units_of
from coder_tui.diffs.hunks import split_hunk
from coder_tui.protocol.comparison import Change, Comparison
from coder_tui.workspace.undo.changed_files import ChangedFile

MOST_STEPS = 200
"""Splits of one hunk at once; what is left of a very long one can be split again."""
Key: TypeAlias = tuple[Path, str]
"""A hunk of a file; a decision applies wherever the hunk shows up again."""


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
class _ReviewState:
    """Decisions, comments and splits; replaced as a whole, so that undo is exact."""

    decisions: Mapping[Key, bool] = field(default_factory=dict)
    comments: Mapping[Key, str] = field(default_factory=dict)
    splits: tuple[Key, ...] = ()


class ReviewModel:
    """`files` are those that are shown; `current` is one of their hunks."""

    def __init__(self) -> None:
        self.files: tuple[ReviewedFile, ...] = ()
        self.is_turn_only = True
        self.stale: frozenset[Path] = frozenset()
        self.current: Key | None = None
        self._loaded: tuple[ReviewedFile, ...] = ()
        self._state = _ReviewState()
        self._history: list[tuple[_ReviewState, Key | None]] = []

    def show(self, files: Iterable[tuple[ChangedFile, Comparison]], stale: frozenset[Path]) -> None:
        """Load the changes; decisions on hunks that still exist are kept."""
        self._loaded = tuple(ReviewedFile(change, comparison) for change, comparison in files)
        self.mark_stale(stale)

    def mark_stale(self, stale: frozenset[Path]) -> None:
        """Mark files that someone else changed: nothing in them can be undone, so rejections are dropped."""
        self.stale = stale
        kept = {
            key: verdict for key, verdict in self._state.decisions.items() if verdict or key[0] not in stale
        }
        self._state = replace(self._state, decisions=kept)
        self._rebuild()

    @property
    def keys(self) -> tuple[Key, ...]:
        return tuple(key for file in self.files for key in file.keys)

    @property
    def place(self) -> int:
        """The number of the current file."""
        path = self.current[0] if self.current is not None else None
        return next((place for place, file in enumerate(self.files) if file.path == path), 0)

    @property
    def file(self) -> ReviewedFile | None:
        return self.files[self.place] if self.files else None

    def decision(self, key: Key) -> bool | None:
        """Return True for kept, False for rejected, None for undecided."""
        return self._state.decisions.get(key)

    def comment(self, key: Key) -> str:
        return self._state.comments.get(key, "")

    def decisions_of(self, file: ReviewedFile) -> tuple[bool | None, ...]:
        return tuple(self.decision(key) for key in file.keys)

    def counts(self) -> Counts:
        made = [self.decision(key) for key in self.keys]
        return Counts(made.count(True), made.count(False), made.count(None))

    def reason_not_to_reject(self, file: ReviewedFile) -> str:
        name = file.path.name
        if file.change.is_too_large:
            return f"{name} is too large to be undone here."
        return f"{name} has changed on disk and cannot be undone." if file.path in self.stale else ""

    def decide(self, verdict: bool | None, keys: Iterable[Key]) -> None:
        decisions = {**self._state.decisions, **dict.fromkeys(keys, verdict)}
        given = {key: each for key, each in decisions.items() if each is not None}
        self._change(replace(self._state, decisions=given))

    def set_comment(self, key: Key, words: str) -> None:
        """Comment on a hunk; an empty comment removes the one there is."""
        comments = {**self._state.comments, key: words.strip()}
        self._change(replace(self._state, comments={at: each for at, each in comments.items() if each}))

    def split(self, *, to_lines: bool = False) -> bool:
        """Split the current hunk once or into its lines; returns False if it is a single line."""
        file, key = self.file, self.current
        if file is None or key is None or key[1] == WHOLE:
            return False
        steps, first = _steps_apart(file.comparison, key[1], MOST_STEPS if to_lines else 1)
        if not steps:
            return False
        mark = (key[0], first)
        comments = {(at if at != key else mark): each for at, each in self._state.comments.items()}
        decisions = {at: each for at, each in self._state.decisions.items() if at != key}
        splits = (*self._state.splits, *((key[0], unit) for unit in steps))
        self._change(_ReviewState(decisions, comments, splits))
        self.current = mark
        return True

    def undo(self) -> bool:
        """Undo the last decision, comment or split; returns False if there is none."""
        if not self._history:
            return False
        self._state, self.current = self._history.pop()
        self._rebuild()
        return True

    def go(self, key: Key) -> None:
        if key in self.keys:
            self.current = key

    def step_file(self, by: int) -> None:
        if self.files:
            self.current = self.files[max(0, min(self.place + by, len(self.files) - 1))].keys[0]

    def step(self, by: int) -> None:
        """Go to the next or previous hunk, through all files."""
        keys = self.keys
        if self.current is not None:
            at = keys.index(self.current) + by
            self.current = keys[max(0, min(at, len(keys) - 1))]

    def step_open(self, by: int) -> bool:
        """Go to the next or previous undecided hunk, wrapping around; returns False if all are decided."""
        keys = self.keys
        if self.current is None:
            return False
        at = keys.index(self.current)
        ahead = [keys[(at + by * distance) % len(keys)] for distance in range(1, len(keys) + 1)]
        found = next((key for key in ahead if self.decision(key) is None), None)
        self.current = found or self.current
        return found is not None

    def outcome(self) -> tuple[Reviewed, ...]:
        """Return the files with rejected hunks or comments."""
        found = (self._reviewed(file) for file in self.files)
        return tuple(each for each in found if each.rejected or each.comments)

    def forget_sent(self) -> None:
        """Drop rejections and comments, which were sent; kept hunks stay kept."""
        kept = {key: verdict for key, verdict in self._state.decisions.items() if verdict}
        self._state = _ReviewState(kept, {}, self._state.splits)
        self._history.clear()

    def _reviewed(self, file: ReviewedFile) -> Reviewed:
        rejected = frozenset(key[1] for key in file.keys if self.decision(key) is False)
        comments = {key[1]: words for key in file.keys if (words := self.comment(key))}
        return Reviewed(file.change, file.comparison, rejected, comments)

    def _change(self, state: _ReviewState) -> None:
        self._history.append((self._state, self.current))
        self._state = state
        self._rebuild()

    def _rebuild(self) -> None:
        """Apply the splits to the files; the current hunk stays as near as possible."""
        place = self.place if self.files else 0
        self.files = tuple(_taken_apart(file, self._state.splits) for file in self._loaded)
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
    """Return the hunks to split, one after the other, and the first of the pieces."""
    steps: list[str] = []
    waiting, first = [unit], unit
    while waiting and len(steps) < most:
        unit = waiting.pop(0)
        if steps and _is_line(comparison, unit):
            continue
        apart, known = split_hunk(comparison, unit), frozenset(units_of(comparison))
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
            comparison = split_hunk(comparison, unit)
    return replace(file, comparison=comparison)
