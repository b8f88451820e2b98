"""Decides between several places of a hunk by what the others tell: order, line numbers, names above."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from heapq import nsmallest

from coder_tui.protocol.errors import ErrorType
from coder_tui.tools.editing.anchors import under_anchors
from coder_tui.tools.editing.lines import FileLines
from coder_tui.tools.editing.patch_model import Hunk
from coder_tui.tools.editing.script import Mark, Script
from coder_tui.tools.editing.tiers import Placement

_CLEARLY = 3
"""A place must be this many times nearer to the stated line than the next, unless it is exactly there."""

_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Sought:
    """A hunk, how it is read, and where it may be; `failure` says why it is nowhere."""

    hunk: Hunk
    script: Script
    places: tuple[Placement, ...] = ()
    failure: ErrorType | None = None

    @property
    def place(self) -> Placement | None:
        return self.places[0] if len(self.places) == 1 and self.failure is None else None


def narrowed(file: FileLines, found: list[Sought]) -> list[Sought]:
    """Leave each hunk as few places as the hints allow."""
    found = [_at_end(file, sought) for sought in found]
    found = [sought if sought.hunk.line else _by_anchors(file, sought) for sought in found]
    found = _in_order(found)
    for _ in range(_ROUNDS):
        before = found
        # A place that became certain may decide others.
        found = _in_order(_by_numbers(found))
        if found == before:
            break
    return _in_order([_by_anchors(file, sought) for sought in found])


def _at_end(file: FileLines, sought: Sought) -> Sought:
    """A hunk of a real diff that has context above it and none below stands at the end of its file."""
    marks = [line.mark for line in sought.script.lines]
    lacks_end = sought.hunk.line is not None and Mark.KEEP in marks and marks[-1] is not Mark.KEEP
    if not sought.hunk.is_at_end and not lacks_end:
        return sought
    places = tuple(place for place in sought.places if place.end == len(file.raw))
    return replace(sought, places=places or sought.places)


def _by_anchors(file: FileLines, sought: Sought) -> Sought:
    if len(sought.places) < 2 or not sought.hunk.anchors:
        return sought
    return replace(sought, places=tuple(under_anchors(file, sought.hunk.anchors, list(sought.places))))


def _in_order(found: list[Sought]) -> list[Sought]:
    """Drop places that no order of the hunks along the file can use; none where they are out of order."""
    earliest = _limits(found, lambda core, limit: core[0] >= limit, 0)
    mirrored = _limits(found[::-1], lambda core, limit: -core[1] >= limit, -(1 << 60), mirror=True)
    if earliest is None or mirrored is None:
        return found
    latest = [-limit for limit in mirrored[::-1]]
    kept: list[Sought] = []
    for sought, low, high in zip(found, earliest, latest, strict=True):
        places = tuple(
            place
            for place in sought.places
            if _core(sought.script, place)[0] >= low and _core(sought.script, place)[1] <= high
        )
        kept.append(replace(sought, places=places or sought.places))
    return kept


def _limits(
    found: list[Sought],
    fits: Callable[[tuple[int, int], int], bool],
    limit: int,
    *,
    mirror: bool = False,
) -> list[int] | None:
    """For each hunk how far the ones before it reach at least; None where they cannot all be in order."""
    limits: list[int] = []
    for sought in found:
        limits.append(limit)
        cores = [_core(sought.script, place) for place in sought.places]
        ends = [-core[0] if mirror else core[1] for core in cores if fits(core, limit)]
        if cores and not ends:
            return None
        limit = min(ends, default=limit)
    return limits


def _core(script: Script, place: Placement) -> tuple[int, int]:
    """The lines that the hunk really changes; context may be shared with its neighbours."""
    first, last = script.groups[0], script.groups[-1]
    rows = [row for row in place.rows[first.at : last.at + last.drops] if row is not None]
    if rows:
        return rows[0], rows[-1] + 1
    before = [row + 1 for row in place.rows[: first.at] if row is not None]
    at = before[-1] if before else place.start
    # A place where lines come is taken, too: no other hunk means the same.
    return at, at + 1


def _by_numbers(found: list[Sought]) -> list[Sought]:
    certain = [
        (index, sought.place.start - sought.hunk.line + 1)
        for index, sought in enumerate(found)
        if sought.place and sought.hunk.line is not None
    ]
    return [
        _by_number(sought, _offset(certain, index)) if len(sought.places) > 1 else sought
        for index, sought in enumerate(found)
    ]


def _by_number(sought: Sought, offset: int) -> Sought:
    """The place nearest to the stated line, moved as the hunks around it have moved."""
    line = sought.hunk.line
    if line is None:
        return sought
    expected = line - 1 + offset
    near, next_near = nsmallest(2, sought.places, key=lambda place: abs(place.start - expected))
    distance, next_distance = abs(near.start - expected), abs(next_near.start - expected)
    # Models that do not know the line write 1.
    is_trusted = line > 1 and distance * _CLEARLY <= next_distance
    return replace(sought, places=(near,)) if not distance or is_trusted else sought


def _offset(certain: list[tuple[int, int]], index: int) -> int:
    """How far the nearest hunk whose place is certain is from its stated line."""
    if not certain:
        return 0
    at = bisect_left(certain, (index, 0))
    return min(certain[max(at - 1, 0) : at + 1], key=lambda known: abs(known[0] - index))[1]
