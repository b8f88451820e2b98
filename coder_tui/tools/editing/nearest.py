"""Find the place in a file that is most like the text that was not found."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process

_MOST_LINES = 50_000
_CUTOFF = 60.0
_LONGEST = 200
_COMPARED = 500
_MOST = 20_000


@dataclass(frozen=True, slots=True)
class Nearest:
    """A region of the file, with lines from 1, and the first line in it that differs."""

    start_line: int
    end_line: int
    line: int
    wanted: str
    found: str
    likeness: int
    """In percent."""

    def sentence(self) -> str:
        return (
            f"The nearest place is lines {self.start_line}-{self.end_line}, {self.likeness}% similar; "
            f"line {self.line} differs first: looked for {_brief(self.wanted)}, "
            f"the file has {_brief(self.found)}."
        )


def nearest_region(lines: Sequence[str], old: str) -> Nearest | None:
    """Find the region that shares the most lines with `old`, or one line that is very similar."""
    lines, wanted = lines[:_MOST_LINES], old.strip("\n").split("\n")
    start = _by_shared_lines(lines, wanted)
    if start is None:
        start = _by_likeness(lines, wanted)
    if start is None:
        return None
    window = lines[start : start + len(wanted)]
    for index, line in enumerate(wanted):
        found = window[index] if index < len(window) else ""
        if found != line:
            last = start + max(len(window), 1)
            return Nearest(start + 1, last, start + index + 1, line, found, _likeness(window, wanted))
    return None


def _likeness(one: Sequence[str], other: Sequence[str]) -> int:
    return int(fuzz.ratio("\n".join(one[:_COMPARED])[:_MOST], "\n".join(other[:_COMPARED])[:_MOST]))


def _by_shared_lines(lines: Sequence[str], wanted: list[str]) -> int | None:
    places: dict[str, list[int]] = {}
    for at, line in enumerate(lines):
        if stripped := line.strip():
            places.setdefault(stripped, []).append(at)
    votes: Counter[int] = Counter()
    for index, line in enumerate(wanted):
        # A line that is everywhere says nothing about the place.
        for at in places.get(line.strip(), [])[:100]:
            if at >= index:
                votes[at - index] += 1
    return min(votes, key=lambda start: (-votes[start], start)) if votes else None


def _by_likeness(lines: Sequence[str], wanted: list[str]) -> int | None:
    index, line = max(enumerate(wanted), key=lambda pair: len(pair[1].strip()))
    best = process.extractOne(line[:_LONGEST], [text[:_LONGEST] for text in lines], scorer=fuzz.ratio)
    if best is None or best[1] < _CUTOFF:
        return None
    return max(int(best[2]) - index, 0)


def _brief(line: str) -> str:
    return repr(line if len(line) <= _LONGEST else line[:_LONGEST] + "…")
