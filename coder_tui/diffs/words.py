"""Pair deleted lines with the added ones they became, and find the words that changed."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from coder_tui.diffs.compare import matching_runs

FARTHEST = 0.6
"""The token distance up to which two lines count as one changed line."""
_MOST_COMPARED = 1600
"""The number of line pairs that are all compared; in a larger run each line is compared with the next few."""
_LOOK_AHEAD = 8
_LONGEST = 1000
"""Characters of a line that are compared."""
_WORD = re.compile(r"\w+|[^\w\s]")

Pair: TypeAlias = tuple[int | None, int | None]
"""Indexes of a deleted and an added line that are in the same row."""


@dataclass(frozen=True, slots=True)
class _Words:
    words: frozenset[str]
    weight: int


@dataclass(frozen=True, slots=True)
class Aligned:
    """Rows of a changed run in order; `related` are those whose two lines are one changed line."""

    rows: tuple[Pair, ...]
    related: frozenset[int]


def distance(old: str, new: str) -> float:
    """Return 0 for lines with the same words, 1 for lines that share none."""
    return _distance(_words(old), _words(new))


def _words(line: str) -> _Words:
    words = frozenset(_WORD.findall(line[:_LONGEST]))
    return _Words(words, sum(map(len, words)))


def _distance(old: _Words, new: _Words) -> float:
    total = old.weight + new.weight
    if not total:
        return 0.0
    return 1 - 2 * sum(map(len, old.words & new.words)) / total


def align(deleted: Sequence[str], added: Sequence[str]) -> Aligned:
    """Put related lines into one row in order, and pair the others as far as possible."""
    rows: list[Pair] = []
    related = set()
    old_at = new_at = 0
    for old, new in [*_pairs(deleted, added), (len(deleted), len(added))]:
        rows += _opposite(range(old_at, old), range(new_at, new))
        if old < len(deleted):
            related.add(len(rows))
            rows.append((old, new))
        old_at, new_at = old + 1, new + 1
    return Aligned(tuple(rows), frozenset(related))


def _opposite(old: range, new: range) -> Iterator[Pair]:
    for index in range(max(len(old), len(new))):
        yield old[index] if index < len(old) else None, new[index] if index < len(new) else None


def _pairs(deleted: Sequence[str], added: Sequence[str]) -> list[tuple[int, int]]:
    if not deleted or not added:
        return []
    old, new = [_words(line) for line in deleted], [_words(line) for line in added]
    if len(old) == len(new) and all(_is_related(*pair) for pair in zip(old, new, strict=True)):
        return [(index, index) for index in range(len(old))]
    if len(old) * len(new) <= _MOST_COMPARED:
        return _best(old, new)
    return _first_found(old, new)


def _is_related(old: _Words, new: _Words) -> bool:
    return _distance(old, new) <= FARTHEST


def _best(old: Sequence[_Words], new: Sequence[_Words]) -> list[tuple[int, int]]:
    """Return the pairs, in order, with the smallest total distance."""
    rows, columns = len(old), len(new)
    gain = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    taken = [[False] * columns for _ in range(rows)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            gain[i][j] = max(gain[i + 1][j], gain[i][j + 1])
            near = 1 - _distance(old[i], new[j])
            if near >= 1 - FARTHEST and gain[i + 1][j + 1] + near > gain[i][j]:
                gain[i][j], taken[i][j] = gain[i + 1][j + 1] + near, True
    return list(_walk(gain, taken))


def _walk(gain: list[list[float]], taken: list[list[bool]]) -> Iterator[tuple[int, int]]:
    i = j = 0
    while i < len(taken) and j < len(taken[0]):
        if taken[i][j]:
            yield i, j
            i, j = i + 1, j + 1
        elif gain[i + 1][j] >= gain[i][j + 1]:
            i += 1
        else:
            j += 1


def _first_found(old: Sequence[_Words], new: Sequence[_Words]) -> list[tuple[int, int]]:
    pairs = []
    at = 0
    for i, line in enumerate(old):
        near = (j for j in range(at, min(at + _LOOK_AHEAD, len(new))) if _is_related(line, new[j]))
        if (found := next(near, None)) is not None:
            pairs.append((i, found))
            at = found + 1
    return pairs


LONGEST_EMPHASISED = 1000
"""Characters. Words of a longer line are not compared."""
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_BLANK_BETWEEN = 3

Span: TypeAlias = tuple[int, int]


def changed_words(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Return the spans of either line that the other does not have; neighbors are joined."""
    if max(len(old), len(new)) > LONGEST_EMPHASISED or old == new:
        return (), ()
    old_tokens, new_tokens = _TOKEN.findall(old), _TOKEN.findall(new)
    runs = matching_runs(old_tokens, new_tokens)
    old_same = [(run.old, run.old + run.length) for run in runs]
    new_same = [(run.new, run.new + run.length) for run in runs]
    return _spans(old, old_tokens, old_same), _spans(new, new_tokens, new_same)


def _spans(line: str, tokens: Sequence[str], same: Sequence[Span]) -> tuple[Span, ...]:
    """Return the stretches between the shared tokens, in characters."""
    ends = [0]
    for token in tokens:
        ends.append(ends[-1] + len(token))
    spans: list[Span] = []
    at = 0
    for start, stop in [*same, (len(tokens), len(tokens))]:
        if start > at:
            _append(spans, (ends[at], ends[start]), line)
        at = stop
    return tuple(spans)


def _append(spans: list[Span], span: Span, line: str) -> None:
    """Join neighboring changed words, including the blanks or the sign between them."""
    between = line[spans[-1][1] : span[0]] if spans else "no span"
    is_sign = len(between) == 1 and not between.isalnum()
    if is_sign or (len(between) <= _BLANK_BETWEEN and between.isspace()):
        spans[-1] = (spans[-1][0], span[1])
    else:
        spans.append(span)
