"""Align a model's old lines with a stretch of the file although some of them are wrong or missing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from rapidfuzz.distance import OSA

_CHARACTERS_A_SLIP = 8
"""Two lines count as the same line if they differ by at most one slip per this many characters."""
_SHORTEST_SHARED = 4
_COMMENTS = ("#", "//", "/*", "<!--", "--", ";", "%")
_LONGEST = 2_000
"""Characters. Comparing longer lines takes too long."""
_ELISION = re.compile(
    r"(#|//|/\*|<!--|--|;|%)?\s*(\.\.\.|…)(?!\w).{0,60}|(#|//|/\*|<!--)\s.{0,60}(\.\.\.|…).{0,6}"
)
_ELIDED_CODE = re.compile(
    r"(existing|rest|remaining|unchanged|same|other|more|code|previous|omitted|etc)", re.I
)


class Step(IntEnum):
    """How a line of the old side or of the file was matched."""

    NONE = 0
    EQUAL = 1
    SIMILAR = 2
    OTHER = 3
    """The lines at this place have nothing in common."""
    SKIP_OLD = 4
    SKIP_FILE = 5


_GAIN_KEEP, _GAIN_DROP, _GAIN_BLANK, _GAIN_SIMILAR = 1.0, 2.0, 0.1, 0.6
_COST_OTHER, _COST_SKIP = 0.75, 0.4
_NEVER = float("-inf")


@dataclass(frozen=True, slots=True)
class OldSide:
    """The lines to search for: normalized, which of them must be found, and which stand for any lines."""

    keys: tuple[str, ...]
    must: tuple[bool, ...]
    elided: tuple[bool, ...]
    joined: tuple[bool, ...]
    """Whether no line may come between this one and the one before."""

    @property
    def mirrored(self) -> "OldSide":
        """Return the same lines in reverse order."""
        joined = (False, *self.joined[:0:-1])
        return OldSide(self.keys[::-1], self.must[::-1], self.elided[::-1], joined)


@dataclass(frozen=True, slots=True)
class Alignment:
    """`rows` are indexes in the file. `steps` tells how each old line got its row."""

    score: float
    rows: tuple[int | None, ...]
    steps: tuple[Step, ...]
    matched: int
    """The number of lines that were found, not counting blank ones."""
    missing: int
    """The number that were not found."""


def is_elision(text: str) -> bool:
    """Return whether a line stands for lines that the model left out."""
    stripped = text.strip()
    if stripped in {"...", "…"}:
        return True
    return bool(_ELISION.fullmatch(stripped)) and bool(
        _ELIDED_CODE.search(stripped) or not re.search(r"\w", stripped)
    )


def is_extended(one: str, other: str) -> bool:
    """Return whether one normalized line is the other with something appended, such as a comment."""
    if not one or not other or one[0] != other[0]:
        return False
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    if not long.startswith(short):
        return False
    return len(short) >= _SHORTEST_SHARED or long.startswith(_COMMENTS, len(short))


def has_slips(one: str, other: str) -> bool:
    """Return whether two normalized lines are the same line with a few slips."""
    longest = max(len(one), len(other))
    slips = max(1, longest // _CHARACTERS_A_SLIP)
    if not one or not other or longest > _LONGEST or abs(len(one) - len(other)) > slips:
        return False
    return OSA.distance(one, other, score_cutoff=slips) <= slips


def align(side: OldSide, file: Sequence[str], offset: int, present: frozenset[str]) -> list[Alignment]:
    """Return the best alignment for each line of the stretch that the old side can end at, best first.

    `present` are all lines of the file.
    """
    table = _Table(side, file, present)
    ends = [(score, end) for end, score in enumerate(table.last) if score > 0]
    ends.sort(key=lambda item: (-item[0], item[1]))
    return [table.trace(end, offset) for _, end in ends[:8]]


def align_from_end(
    side: OldSide, file: Sequence[str], offset: int, present: frozenset[str]
) -> Alignment | None:
    """Return the best alignment when ties are broken from the end of the stretch."""
    found = align(side.mirrored, file[::-1], 0, present)
    if not found:
        return None
    last = offset + len(file) - 1
    rows = tuple(None if row is None else last - row for row in found[0].rows[::-1])
    return replace(found[0], rows=rows, steps=found[0].steps[::-1])


class _Table:
    """The scores of all prefixes of the old side at all places of the stretch, and how to trace them back."""

    def __init__(self, side: OldSide, file: Sequence[str], present: frozenset[str]) -> None:
        self._side, self._file, self._present = side, file, present
        self._ways: list[bytearray] = []
        scores = [0.0] * (len(file) + 1)
        for row in range(len(side.keys)):
            scores = self._row(row, scores)
        self.last = scores

    def _row(self, row: int, before: list[float]) -> list[float]:
        side, file = self._side, self._file
        key, must = side.keys[row], side.must[row]
        ways = bytearray(len(file) + 1)
        if side.elided[row]:
            self._ways.append(ways)
            return self._elided(before, ways)
        gain = (_GAIN_DROP if must else _GAIN_KEEP) if key else _GAIN_BLANK
        scores = [_NEVER] * (len(file) + 1)
        can_skip_file = row + 1 < len(side.keys) and not side.joined[row + 1]
        for at in range(len(file) + 1):
            best, way = (_NEVER, Step.NONE) if must else (before[at] - _COST_SKIP, Step.SKIP_OLD)
            if at and before[at - 1] > _NEVER:
                step, value = self._pair(key, file[at - 1], gain, must=must)
                if before[at - 1] + value > best:
                    best, way = before[at - 1] + value, step
            if can_skip_file and at and scores[at - 1] - _COST_SKIP > best:
                best, way = scores[at - 1] - _COST_SKIP, Step.SKIP_FILE
            scores[at] = best
            ways[at] = way
        self._ways.append(ways)
        return scores

    def _pair(self, key: str, line: str, gain: float, *, must: bool) -> tuple[Step, float]:
        if key == line:
            return Step.EQUAL, gain
        if must:
            return Step.NONE, _NEVER
        # A line that is in the file as written has no slips.
        if is_extended(key, line) or (key not in self._present and has_slips(key, line)):
            return Step.SIMILAR, _GAIN_SIMILAR
        return Step.OTHER, -_COST_OTHER

    def _elided(self, before: list[float], ways: bytearray) -> list[float]:
        scores = list(before)
        for at in range(1, len(scores)):
            ways[at] = Step.SKIP_OLD
            if scores[at - 1] > scores[at]:
                scores[at], ways[at] = scores[at - 1], Step.SKIP_FILE
        ways[0] = Step.SKIP_OLD
        return scores

    def trace(self, end: int, offset: int) -> Alignment:
        rows: list[int | None] = []
        steps: list[Step] = []
        at, row = end, len(self._ways) - 1
        while row >= 0:
            step = Step(self._ways[row][at])
            if step is Step.SKIP_FILE:
                at -= 1
                continue
            is_paired = step in (Step.EQUAL, Step.SIMILAR, Step.OTHER)
            rows.append(offset + at - 1 if is_paired else None)
            steps.append(step)
            at -= is_paired
            row -= 1
        steps.reverse()
        found = [
            step in (Step.EQUAL, Step.SIMILAR)
            for step, key, elided in zip(steps, self._side.keys, self._side.elided, strict=True)
            if key and not elided
        ]
        return Alignment(self.last[end], tuple(rows[::-1]), tuple(steps), sum(found), len(found) - sum(found))
