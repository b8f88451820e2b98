"""Finds the place of each hunk in a file, all hunks seen together.

Decides between several places of a hunk by what the others tell: order, line numbers, names above.

Tells which of several places is under the line that a patch names above its change.
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from heapq import nsmallest

from coder_tui.protocol.errors import ErrorType
from coder_tui.tools.editing import normalize
from coder_tui.tools.editing.approximate import approximate_places
from coder_tui.tools.editing.outcome import Strategy
from coder_tui.tools.editing.patch_model import Hunk
from coder_tui.tools.editing.replace import is_applied, is_likelier_applied
from coder_tui.tools.editing.script import FileLines, Mark, Script, ScriptLine
from coder_tui.tools.editing.tiers import LENIENT, Placement, Searched, Tier, places_by_tier

_CLOSERS = ")]}{"
_SHORTEST = 3


def under_anchors(file: FileLines, anchors: tuple[str, ...], places: list[Placement]) -> list[Placement]:
    """The places inside the innermost block that the anchors lead to; all where they lead nowhere."""
    scopes = [(0, len(file.seen))]
    for anchor in anchors:
        deeper = [inner for scope in scopes for inner in _blocks(file, anchor, scope)]
        scopes = deeper or scopes
    inside = [place for place in places if any(_touches(place, scope) for scope in scopes)]
    after = [place for place in inside if any(scope[0] < place.start < scope[1] for scope in scopes)]
    return after or inside or places


def anchor_row(file: FileLines, anchors: tuple[str, ...]) -> int | None:
    """The one line that the anchors lead to; None where there is none, or several."""
    scopes = [(0, len(file.seen))]
    for anchor in anchors:
        scopes = [inner for scope in scopes for inner in _blocks(file, anchor, scope)]
    return scopes[0][0] if len(scopes) == 1 and anchors else None


def _touches(place: Placement, scope: tuple[int, int]) -> bool:
    return place.start < scope[1] and place.end > scope[0]


def _blocks(file: FileLines, anchor: str, scope: tuple[int, int]) -> list[tuple[int, int]]:
    wanted = normalize.punctuation(anchor)
    lines = [(at, normalize.punctuation(file.seen[at])) for at in range(*scope)]
    rows = [at for at, line in lines if line == wanted]
    if not rows and len(wanted) >= _SHORTEST:
        # Headings of hunks are cut, and models leave off the end of a line.
        rows = [at for at, line in lines if line.startswith(wanted)]
    return [(row, _block_end(file, row, scope[1])) for row in rows]


def _block_end(file: FileLines, row: int, limit: int) -> int:
    """The next line that stands as far out as the anchor, but for what closes its signature or body."""
    depth = len(normalize.lead(file.seen[row]).expandtabs(8))
    for at in range(row + 1, limit):
        body = file.seen[at].strip()
        is_out = len(normalize.lead(file.seen[at]).expandtabs(8)) <= depth
        if body and is_out and body[0] not in _CLOSERS:
            return at
    return limit


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


_EXACT = (Tier.LITERAL, Tier.EXACT)
_LONGEST = 1_000_000
"""Characters: what is longer is taken only as it is."""


def locate_all(file: Searched, hunks: tuple[Hunk, ...]) -> list[Sought]:
    """Give every hunk one place where that is certain; else all places it may have, or a failure."""
    found = narrowed(file.lines, [_seek(file, hunk) for hunk in hunks])
    return [
        replace(sought, failure=ErrorType.AMBIGUOUS_MATCH) if len(sought.places) > 1 else sought
        for sought in found
    ]


def _seek(file: Searched, hunk: Hunk) -> Sought:
    if hunk.script.changes_nothing:
        return Sought(hunk, hunk.script, failure=ErrorType.INVALID_TOOL_PARAMS)
    if not hunk.script.old:
        return _insertion(file, hunk)
    for readings in _readings(file, hunk.script):
        if found := _by_tiers(file, hunk, readings):
            return found
    if hunk.script.size > _LONGEST:
        return Sought(hunk, hunk.script, failure=ErrorType.CONTEXT_MISMATCH)
    if is_applied(file, hunk.script):
        return Sought(hunk, hunk.script, failure=ErrorType.ALREADY_APPLIED)
    script = _resigned(file, hunk.script)
    if places := approximate_places(file, script):
        return Sought(hunk, script, tuple(places))
    return Sought(hunk, hunk.script, failure=ErrorType.CONTEXT_MISMATCH)


def _by_tiers(file: Searched, hunk: Hunk, readings: list[Script]) -> Sought | None:
    for script in readings:
        if places := places_by_tier(file, script, _EXACT):
            if script is not hunk.script and _is_shifted_by_one(hunk.script, script):
                break
            return Sought(hunk, script, tuple(places + _blank_differences(file, hunk, script, places)))
    if hunk.script.size > _LONGEST:
        return None
    for script in readings:
        if places := places_by_tier(file, script, LENIENT):
            if any(is_likelier_applied(file, script, place) for place in places):
                return Sought(hunk, script, failure=ErrorType.ALREADY_APPLIED)
            return Sought(hunk, script, tuple(places))
    return None


def _is_shifted_by_one(script: Script, resigned: Script) -> bool:
    """Context that lost its sign looks like a patch with one blank too few everywhere.

    The new lines tell which it is: they stand where lines around them do.
    """
    drops_text = any(line.mark is Mark.DROP and line.text.strip() for line in script.lines)
    if resigned.old == script.old or drops_text:
        # Lines that go were found as they are written: they lack nothing.
        return False
    added = [
        normalize.lead(line.text) for line in script.lines if line.mark is Mark.ADD and line.text.strip()
    ]
    shifted, fixed = (
        {normalize.lead(text) for text in side.old if text.strip()} for side in (script, resigned)
    )
    return sum(lead in shifted for lead in added) > sum(lead in fixed for lead in added)


def _blank_differences(
    file: Searched, hunk: Hunk, script: Script, places: list[Placement]
) -> list[Placement]:
    """Where the stated line fits but for blanks, an exact match elsewhere is not alone."""
    if hunk.line is None or any(place.start == hunk.line - 1 for place in places):
        return []
    found = places_by_tier(file, script, (Tier.TRIMMED,))
    return [place for place in found if place.start == hunk.line - 1]


def _readings(file: Searched, script: Script) -> list[list[Script]]:
    """As written, or with context that lost its sign; only then without blank lines at the edges."""
    resigned = _resigned(file, script)
    whole = list(dict.fromkeys((script, resigned)))
    bare = _without_blank_edges(resigned)
    return [whole, [bare]] if bare.old and bare not in whole else [whole]


def _resigned(file: Searched, script: Script) -> Script:
    """Context without its sign looks as if its first blank were one: the file tells which it is."""
    texts = {
        index: f" {line.text}"
        for index, line in enumerate(script.lines)
        if line.mark is Mark.KEEP and line.text not in file.line_set and f" {line.text}" in file.line_set
    }
    return script.with_keeps(texts) if texts else script


def _without_blank_edges(script: Script) -> Script:
    lines = list(script.lines)
    while lines and _is_blank(lines[-1]):
        lines.pop()
    while lines and _is_blank(lines[0]):
        del lines[0]
    return Script(tuple(lines))


def _is_blank(line: ScriptLine) -> bool:
    return line.mark is Mark.KEEP and not line.text.strip()


def _insertion(file: Searched, hunk: Hunk) -> Sought:
    """Lines with nothing around them: at the end, under their anchor, or into an empty file."""
    size = len(file.lines.raw)
    row = anchor_row(file.lines, hunk.anchors)
    if not size or hunk.is_at_end or hunk.appends:
        at = size
    elif row is not None and hunk.line is None:
        at = row + 1
    else:
        return Sought(hunk, hunk.script, failure=ErrorType.CONTEXT_MISMATCH)
    brings_ends = not size or any(line.text.endswith("\r") for line in hunk.script.lines)
    tier = Tier.LITERAL if brings_ends else Tier.EXACT
    return Sought(hunk, hunk.script, (Placement((), at, tier, Strategy.EXACT),))
