"""Find a place by most of its lines. Removed lines must be there; the others may have slips."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

from coder_tui.tools.editing import normalize
from coder_tui.tools.editing.align import Alignment, OldSide, Step, align, align_from_end, is_elision
from coder_tui.tools.editing.script import Group, Mark, Script
from coder_tui.tools.editing.tiers import FEWEST_CHARACTERS, Placement, SearchableFile, Strategy, Tier

_MATCHED_SHARE = 0.8
_RIVAL_SHARE = 0.6
_MOST_COMMON = 64
_MOST_STRETCHES = 24
_MOST_CELLS = 600_000
_ELIDED_LINES = 400
_AROUND = 4
_EQUAL = 0.01
_FOUND = (Step.EQUAL, Step.SIMILAR)
_NEAR = 1.5
"""Alignments in one place whose scores differ by less than this count as equal."""


def approximate_places(file: SearchableFile, script: Script) -> list[Placement]:
    """Return the best place and every rival that is nearly as good; nothing if no place is good enough."""
    side = _old_side(script)
    found = _alignments(file, side)
    if not found:
        return []
    best = max(found, key=lambda alignment: (alignment.matched, alignment.score))
    if not _is_acceptable(best, script, side):
        return []
    rivals = [other for other in found if _is_rival(other, best, script)]
    return [_placement(alignment) for alignment in (best, *rivals, *_twins(file, side, best, script))]


def rivals_as_indented(
    file: SearchableFile, script: Script, place: Placement, line: int = 0
) -> list[Placement]:
    """Return other places with most of the lines exactly as written, or at the stated line.

    `place` was found by ignoring blanks. Such a rival is what the model saw, if other lines changed since.
    """
    if place.tier < Tier.SHIFTED:
        return []
    found: list[Placement] = []
    for alignment in _alignments(file, _old_side(script)):
        rows = _rows(alignment)
        if not rows or (rows[0] < place.end and place.start <= rows[-1]):
            continue
        pairs = [(old, row) for old, row in zip(script.old, alignment.rows, strict=True) if old.strip()]
        same = sum(row is not None and file.lines.seen[row] == old for old, row in pairs)
        is_stated = rows[0] == line - 1 and alignment.matched * 2 > len(pairs)
        if is_stated or same >= _RIVAL_SHARE * len(pairs):
            found.append(_placement(alignment))
    return found


def _twins(file: SearchableFile, side: OldSide, best: Alignment, script: Script) -> list[Alignment]:
    """Return another alignment in the same place that is just as good but changes other lines.

    If the file has two equal lines in a row and the model wrote one of them, it may mean either.
    """
    rows = _rows(best)
    start, end = max(rows[0] - _AROUND, 0), rows[-1] + 1 + _AROUND
    other = align_from_end(side, file.spaceless[start:end], start, file.present)
    is_twin = other is not None and other.score >= best.score - _EQUAL and _differs(other, best, script)
    return [other] if other is not None and is_twin else []


def _is_rival(other: Alignment, best: Alignment, script: Script) -> bool:
    """Return whether another place is so good that the model may have meant it."""
    if not _differs(other, best, script):
        return False
    if _overlap(other, best):
        return other.score >= best.score - _NEAR
    # If every line was found, with slips at most, a place that lacks lines is not meant.
    is_clearly_worse = not best.missing and bool(other.missing)
    return other.matched >= best.matched - (0 if is_clearly_worse else 1)


def _overlap(one: Alignment, other: Alignment) -> bool:
    rows, others = _rows(one), _rows(other)
    return rows[0] <= others[-1] and others[0] <= rows[-1]


def _rows(alignment: Alignment) -> list[int]:
    return [row for row in alignment.rows if row is not None]


def _old_side(script: Script) -> OldSide:
    keys = tuple(normalize.spaceless(text) for text in script.old)
    must = tuple(line.mark is Mark.DROP for line in script.old_lines)
    elided = tuple(
        not is_dropped and is_elision(text) for is_dropped, text in zip(must, script.old, strict=True)
    )
    joined = (False, *(one and other for one, other in pairwise(must)))
    return OldSide(keys, must, elided, joined)


def _alignments(file: SearchableFile, side: OldSide) -> list[Alignment]:
    cells = 0
    found: dict[tuple[int | None, ...], Alignment] = {}
    for start, end in _stretches(file.spaceless, side):
        cells += (end - start) * len(side.keys)
        if cells > _MOST_CELLS:
            return []
        for alignment in align(side, file.spaceless[start:end], start, file.present):
            found.setdefault(alignment.rows, alignment)
    return list(found.values())


def _stretches(keys: list[str], side: OldSide) -> Iterator[tuple[int, int]]:
    """Return the parts of the file that contain rare lines of the old side; overlapping parts are merged."""
    size = len(side.keys)
    slack = min(max(4, size // 4), 30)
    room = size + slack + (_ELIDED_LINES if any(side.elided) else 0)
    spans = sorted((max(start - slack, 0), min(start + room, len(keys))) for start in _starts(keys, side))
    merged: list[list[int]] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return ((start, end) for start, end in merged)


def _starts(keys: list[str], side: OldSide) -> list[int]:
    places: defaultdict[str, list[int]] = defaultdict(list)
    wanted = {key for key in side.keys if key}
    for at, key in enumerate(keys):
        if key in wanted:
            places[key].append(at)
    votes: Counter[int] = Counter()
    for index, key in enumerate(side.keys):
        if key and not side.elided[index] and len(places[key]) <= _MOST_COMMON:
            for at in places[key]:
                # Neighboring starts are the same place with a line more or less.
                votes[max(at - index, 0) // 4] += 1
    return [bucket * 4 for bucket, _ in votes.most_common(_MOST_STRETCHES)]


def _is_acceptable(alignment: Alignment, script: Script, side: OldSide) -> bool:
    keeps = [
        step
        for step, key, must, elided in zip(alignment.steps, side.keys, side.must, side.elided, strict=True)
        if key and not must and not elided
    ]
    matched = sum(step in _FOUND for step in keeps)
    if keeps and matched < _MATCHED_SHARE * len(keeps):
        return False
    if any(step is Step.OTHER and key for step, key in zip(alignment.steps, side.keys, strict=True)):
        # The file has a different line there, so it is another place or another file.
        return False
    sure = sum(len(key) for key, step in zip(side.keys, alignment.steps, strict=True) if step is Step.EQUAL)
    return sure >= FEWEST_CHARACTERS and all(_is_clear(alignment, group, side) for group in script.groups)


def _is_clear(alignment: Alignment, group: Group, side: OldSide) -> bool:
    """Return whether added lines, and removed blank lines, have only one possible place."""
    if group.is_blank and not _is_tight(alignment, group, side):
        return False
    if not group.adds or group.is_line_by_line:
        return True
    end = group.at + group.drops
    before = next((row for row in alignment.rows[: group.at][::-1] if row is not None), None)
    after = next((row for row in alignment.rows[end:] if row is not None), None)
    # Lines that the model marked as left out leave no doubt: the change is on this side of them.
    is_after_elision = any(side.elided[max(group.at - 1, 0) : group.at])
    is_before_elision = any(side.elided[end : end + 1])
    if not group.drops:
        if is_after_elision or is_before_elision:
            neighbor = slice(end, end + 1) if is_after_elision else slice(max(end - 1, 0), end)
            is_found = any(step in _FOUND for step in alignment.steps[neighbor])
            return is_found and is_after_elision != is_before_elision
        return _is_clear_insertion(alignment, group.at, before, after)
    # Lines that it left out silently may belong between the added ones.
    first, last = alignment.rows[group.at], alignment.rows[end - 1]
    has_clear_start = is_after_elision or before is None or first == before + 1
    return has_clear_start and (is_before_elision or after is None or last == after - 1)


def _is_tight(alignment: Alignment, group: Group, side: OldSide) -> bool:
    """Return whether the nearest nonblank lines are as far apart in the file as in the model's text."""
    placed = [index for index, key in enumerate(side.keys) if key and alignment.rows[index] is not None]
    before = [index for index in placed if index < group.at][-1:]
    after = [index for index in placed if index >= group.at + group.drops][:1]
    if not before or not after or any(side.elided[before[0] : after[0]]):
        return True
    first, last = alignment.rows[before[0]], alignment.rows[after[0]]
    return first is not None and last is not None and last - first == after[0] - before[0]


def _is_clear_insertion(alignment: Alignment, at: int, before: int | None, after: int | None) -> bool:
    """Return whether inserted lines have a neighbor in the file and no other line between the neighbors."""
    if not any(step in _FOUND for step in alignment.steps[max(at - 1, 0) : at + 1]):
        return False
    if before is not None and after is not None:
        return after == before + 1
    return (alignment.rows[at - 1] if before is not None else alignment.rows[at]) is not None


def _differs(one: Alignment, other: Alignment, script: Script) -> bool:
    """Return whether the two would change different lines: removed ones, or neighbors of inserted ones."""
    for group in script.groups:
        first, last = (group.at, group.at + group.drops) if group.drops else (group.at - 1, group.at + 1)
        pairs = zip(one.rows[max(first, 0) : last], other.rows[max(first, 0) : last], strict=True)
        if any(row != other_row for row, other_row in pairs if row is not None and other_row is not None):
            return True
    return False


def _placement(alignment: Alignment) -> Placement:
    weak = frozenset(
        index for index, step in enumerate(alignment.steps) if step in (Step.SIMILAR, Step.OTHER)
    )
    is_anchored = alignment.steps[0] is Step.EQUAL and alignment.steps[-1] is Step.EQUAL
    strategy = Strategy.BLOCK_ANCHOR if is_anchored else Strategy.CONTEXT_AWARE
    return Placement(alignment.rows, _rows(alignment)[0], Tier.APPROXIMATE, strategy, weak)
