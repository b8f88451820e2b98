"""Compare two versions of a file.

Shared lines are found in bounded time, whatever the texts are.
"""

import hashlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from coder_tui.protocol.comparison import Change, Comparison, FileState, Gap, Hunk, Same, Section, split_lines

_MOST_DIFFERENCES = 500
"""A stretch with more differences is shown as replaced, because the search is quadratic."""
_DEEPEST = 20
JOINED_WITHIN = 6
"""Changes with at most this many lines between them are one hunk, as in git with three lines of context."""

Lines: TypeAlias = Sequence[str]


@dataclass(frozen=True, slots=True)
class Run:
    """`length` equal lines, from `old` in one text and from `new` in the other."""

    old: int
    new: int
    length: int


def matching_runs(old: Lines, new: Lines) -> list[Run]:
    """Return the shared runs in order, adjacent ones joined."""
    joined: list[Run] = []
    for run in _runs(old, new, 0, 0, _DEEPEST):
        last = joined[-1] if joined else None
        if last and (last.old + last.length, last.new + last.length) == (run.old, run.new):
            joined[-1] = Run(last.old, last.new, last.length + run.length)
        else:
            joined.append(run)
    return joined


def outer_runs(old: Lines, new: Lines) -> list[Run]:
    """Return only the shared beginning and end, which takes almost no time."""
    head = _common_prefix(old, new)
    tail = _common_suffix(old[head:], new[head:])
    runs = Run(0, 0, head), Run(len(old) - tail, len(new) - tail, tail)
    return [run for run in runs if run.length]


def _runs(old: Lines, new: Lines, old_at: int, new_at: int, depth: int) -> Iterator[Run]:
    head = _common_prefix(old, new)
    if head:
        yield Run(old_at, new_at, head)
    tail = _common_suffix(old[head:], new[head:])
    old_middle, new_middle = old[head : len(old) - tail], new[head : len(new) - tail]
    yield from _middle(old_middle, new_middle, old_at + head, new_at + head, depth)
    if tail:
        yield Run(old_at + len(old) - tail, new_at + len(new) - tail, tail)


def _middle(old: Lines, new: Lines, old_at: int, new_at: int, depth: int) -> Iterator[Run]:
    """Split at lines that occur once on either side, then compare closely between them."""
    if not old or not new:
        return
    anchors = _anchors(old, new) if depth else []
    if not anchors:
        yield from (Run(old_at + i, new_at + j, 1) for i, j in _shortest_edit(old, new))
        return
    i = j = 0
    for anchor_i, anchor_j in [*anchors, (len(old), len(new))]:
        yield from _runs(old[i:anchor_i], new[j:anchor_j], old_at + i, new_at + j, depth - 1)
        if anchor_i < len(old):
            yield Run(old_at + anchor_i, new_at + anchor_j, 1)
        i, j = anchor_i + 1, anchor_j + 1


def _anchors(old: Lines, new: Lines) -> list[tuple[int, int]]:
    """Pair the lines that are unique on either side, as many as keep their order."""
    old_counts, new_counts = Counter(old), Counter(new)
    places = {line: j for j, line in enumerate(new) if new_counts[line] == 1}
    pairs = [(i, places[line]) for i, line in enumerate(old) if old_counts[line] == 1 and line in places]
    return _longest_rising(pairs)


def _longest_rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    ends: list[int] = []
    ending: list[int] = []
    before: list[int] = []
    for index, (_, j) in enumerate(pairs):
        at = bisect_left(ends, j)
        before.append(ending[at - 1] if at else -1)
        ends[at : at + 1] = [j]
        ending[at : at + 1] = [index]
    chosen: list[tuple[int, int]] = []
    index = ending[-1] if ending else -1
    while index >= 0:
        chosen.append(pairs[index])
        index = before[index]
    return chosen[::-1]


def _shortest_edit(old: Lines, new: Lines) -> list[tuple[int, int]]:
    """Pair equal lines along a shortest edit path (Myers); return nothing if it is too long to find."""
    reach = {1: 0}
    trail: list[dict[int, int]] = []
    for differences in range(min(len(old) + len(new), _MOST_DIFFERENCES) + 1):
        trail.append(dict(reach))
        for diagonal in range(-differences, differences + 1, 2):
            x = _start(reach, diagonal, differences)
            while x < len(old) and x - diagonal < len(new) and old[x] == new[x - diagonal]:
                x += 1
            reach[diagonal] = x
            if x >= len(old) and x - diagonal >= len(new):
                return _walk_back(trail, len(old), len(new))
    return []


def _comes_from_above(reach: dict[int, int], diagonal: int, differences: int) -> bool:
    if diagonal in {-differences, differences}:
        return diagonal == -differences
    return reach[diagonal - 1] < reach[diagonal + 1]


def _start(reach: dict[int, int], diagonal: int, differences: int) -> int:
    if _comes_from_above(reach, diagonal, differences):
        return reach[diagonal + 1]
    return reach[diagonal - 1] + 1


def _walk_back(trail: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for differences in range(len(trail) - 1, -1, -1):
        diagonal = x - y
        start = _start(trail[differences], diagonal, differences)
        pairs.extend((at, at - diagonal) for at in range(x - 1, start - 1, -1))
        if _comes_from_above(trail[differences], diagonal, differences):
            x, y = start, start - diagonal - 1
        else:
            x, y = start - 1, start - diagonal
    return pairs[::-1]


def _common_prefix(old: Lines, new: Lines) -> int:
    count = 0
    for left, right in zip(old, new, strict=False):
        if left != right:
            break
        count += 1
    return count


def _common_suffix(old: Lines, new: Lines) -> int:
    return _common_prefix(old[::-1], new[::-1])


def compare(old: str | None, new: str | None, path: str = "", old_path: str = "") -> Comparison:
    """Compare two texts; None means no file. `old_path` is given if it differs."""
    old_lines, new_lines = split_lines(old or ""), split_lines(new or "")
    sections = tuple(_sections(old_lines, new_lines))
    return Comparison(path, sections, grouped(sections, path), _state(old, new, path, old_path), old_path)


def _state(old: str | None, new: str | None, path: str, old_path: str) -> FileState:
    if old is None or new is None:
        return FileState.CREATED if old is None else FileState.DELETED
    return FileState.RENAMED if old_path and old_path != path else FileState.CHANGED


def _sections(old: Sequence[str], new: Sequence[str]) -> Iterator[Section]:
    old_at = new_at = 0
    for run in [*matching_runs(old, new), Run(len(old), len(new), 0)]:
        if run.old > old_at or run.new > new_at:
            yield Change(old_at, new_at, tuple(old[old_at : run.old]), tuple(new[new_at : run.new]))
        old_at, new_at = run.old + run.length, run.new + run.length
        if run.length:
            yield Same(run.old, run.new, tuple(old[run.old : old_at]))


def with_context(comparison: Comparison, context: int) -> Comparison:
    """Leave out the equal lines that a unified diff leaves out; the hunks keep their ids."""
    last = len(comparison.sections) - 1
    sections: list[Section] = []
    for index, section in enumerate(comparison.sections):
        if isinstance(section, Same):
            sections += _nearby(section, context if index else 0, context if index < last else 0)
        else:
            sections.append(section)
    return replace(comparison, sections=tuple(sections), hunks=grouped(sections, comparison.path))


def _nearby(same: Same, head: int, tail: int) -> Iterator[Section]:
    """Yield the lines next to a change, with a gap for those that are left out before another one."""
    count = len(same.lines)
    hidden = count - head - tail
    if hidden <= 0:
        yield same
        return
    if head:
        yield Same(same.old, same.new, same.lines[:head])
    if tail:
        yield Gap(same.old + head, same.new + head, hidden)
        yield Same(same.old + count - tail, same.new + count - tail, same.lines[count - tail :])


def stretches(sections: Iterable[Section]) -> Iterator[tuple[Same | Change, ...]]:
    """Yield runs of sections without a gap between them."""
    stretch: list[Same | Change] = []
    for section in sections:
        if not isinstance(section, Gap):
            stretch.append(section)
        elif stretch:
            yield tuple(stretch)
            stretch = []
    if stretch:
        yield tuple(stretch)


def grouped(sections: Sequence[Section], path: str) -> tuple[Hunk, ...]:
    """Group changes that are close together into hunks."""
    spans: list[tuple[int, int]] = []
    for index, section in enumerate(sections):
        if not isinstance(section, Change):
            continue
        if spans and _is_close(sections[spans[-1][1] : index]):
            spans[-1] = (spans[-1][0], index + 1)
        else:
            spans.append((index, index + 1))
    return with_ids(sections, spans, path)


def _is_close(between: Sequence[Section]) -> bool:
    return all(isinstance(each, Same) and each.height <= JOINED_WITHIN for each in between)


def with_ids(sections: Sequence[Section], spans: Iterable[tuple[int, int]], path: str) -> tuple[Hunk, ...]:
    """Return hunks with ids by file, old place and content: independent of what happens to other hunks."""
    seen: Counter[str] = Counter()
    hunks = []
    for start, stop in spans:
        digest = _digest(sections[start:stop], path)
        seen[digest] += 1
        # Equal lines added one by one at one place differ only in their order.
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
