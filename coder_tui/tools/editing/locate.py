"""Find the place of each hunk in a file, looking at all hunks together.

If a hunk fits in several places, the order of the hunks, their line numbers and the lines named above them
decide.
"""

import html
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import groupby

from coder_tui.protocol.errors import ErrorType
from coder_tui.tools.editing import normalize
from coder_tui.tools.editing.anchors import anchor_row, under_anchors
from coder_tui.tools.editing.approximate import approximate_places, rivals_as_indented
from coder_tui.tools.editing.script import FileLines, Hunk, Mark, Script, ScriptLine
from coder_tui.tools.editing.tiers import (
    LENIENT,
    Placement,
    SearchableFile,
    Strategy,
    Tier,
    is_added_at,
    is_added_near,
    is_applied,
    is_likelier_applied,
    places_by_tier,
)

_CLEARLY = 3
"""A place must be this many times nearer to the stated line than the next one, unless it is exactly there."""

_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class HunkSearch:
    """A hunk, how it is read, and its possible places; `failure` tells why it has none."""

    hunk: Hunk
    script: Script
    places: tuple[Placement, ...] = ()
    failure: ErrorType | None = None
    reason: str = ""
    """The failure in words, if the hunk knows more than that its lines are not there."""

    @property
    def place(self) -> Placement | None:
        return self.places[0] if len(self.places) == 1 and self.failure is None else None


def narrow_places(file: FileLines, found: list[HunkSearch]) -> list[HunkSearch]:
    """Leave each hunk as few places as the hints allow."""
    found = [_at_end(file, search) for search in found]
    found = [search if search.hunk.line else _by_anchors(file, search) for search in found]
    found = _in_order(found)
    for _ in range(_ROUNDS):
        before = found
        # A place that has become certain may decide others.
        found = _in_order(_by_numbers(found))
        if found == before:
            break
    return _in_order([_by_anchors(file, search) for search in found])


def _at_end(file: FileLines, search: HunkSearch) -> HunkSearch:
    """Keep only the end of the file for a hunk of a real diff that has context above it but none below."""
    marks = [line.mark for line in search.script.lines]
    lacks_end = search.hunk.line is not None and Mark.KEEP in marks and marks[-1] is not Mark.KEEP
    if not search.hunk.is_at_end and not lacks_end:
        return search
    places = tuple(place for place in search.places if place.end == len(file.raw))
    return replace(search, places=places or search.places)


def _by_anchors(file: FileLines, search: HunkSearch) -> HunkSearch:
    """Leave the places below the anchors. A diff's own heading may name the block before: it only chooses."""
    is_choice = search.hunk.line is not None or not search.script.old
    if not search.hunk.anchors or len(search.places) < (2 if is_choice else 1):
        return search
    places = tuple(under_anchors(file, search.hunk.anchors, list(search.places)))
    if places or is_choice:
        return replace(search, places=places or search.places)
    reason = f"its lines are not below the line that @@ names: {search.hunk.anchors[-1][:80]!r}"
    return replace(search, places=(), failure=ErrorType.CONTEXT_MISMATCH, reason=reason)


def _in_order(found: list[HunkSearch]) -> list[HunkSearch]:
    """Drop places that do not fit the order of the hunks; none if the hunks are out of order."""
    earliest = _limits(found, lambda core, limit: core[0] >= limit, 0)
    mirrored = _limits(found[::-1], lambda core, limit: -core[1] >= limit, -(1 << 60), mirror=True)
    if earliest is None or mirrored is None:
        return found
    latest = [-limit for limit in mirrored[::-1]]
    kept: list[HunkSearch] = []
    for search, low, high in zip(found, earliest, latest, strict=True):
        places = tuple(
            place
            for place in search.places
            if _core(search.script, place)[0] >= low and _core(search.script, place)[1] <= high
        )
        kept.append(replace(search, places=places or search.places))
    return kept


def _limits(
    found: list[HunkSearch],
    fits: Callable[[tuple[int, int], int], bool],
    limit: int,
    *,
    mirror: bool = False,
) -> list[int] | None:
    """Return for each hunk where the hunks before it end at the earliest; None if they cannot be in order."""
    limits: list[int] = []
    for search in found:
        limits.append(limit)
        cores = [_core(search.script, place) for place in search.places]
        ends = [-core[0] if mirror else core[1] for core in cores if fits(core, limit)]
        if cores and not ends:
            return None
        limit = min(ends, default=limit)
    return limits


def _core(script: Script, place: Placement) -> tuple[int, int]:
    """Return the lines that the hunk changes; it may share its context with its neighbors."""
    first, last = script.groups[0], script.groups[-1]
    rows = [row for row in place.rows[first.at : last.at + last.drops] if row is not None]
    if rows:
        return rows[0], rows[-1] + 1
    before = [row + 1 for row in place.rows[: first.at] if row is not None]
    at = before[-1] if before else place.start
    # A place where lines are inserted is taken as well: no other hunk means the same.
    return at, at + 1


def _by_numbers(found: list[HunkSearch]) -> list[HunkSearch]:
    certain = [
        (index, search.place.start - search.hunk.line + 1)
        for index, search in enumerate(found)
        if search.place and search.hunk.line is not None
    ]
    return [
        _by_number(search, _offset(certain, index)) if len(search.places) > 1 else search
        for index, search in enumerate(found)
    ]


def _by_number(search: HunkSearch, offset: int) -> HunkSearch:
    """Keep the place nearest to the stated line, shifted as the hunks around it are shifted."""
    line = search.hunk.line
    if line is None:
        return search
    expected = line - 1 + offset
    near, next_near = nsmallest(2, search.places, key=lambda place: abs(place.start - expected))
    distance, next_distance = abs(near.start - expected), abs(next_near.start - expected)
    # Models that do not know the line number write 1.
    is_trusted = line > 1 and distance * _CLEARLY <= next_distance
    return replace(search, places=(near,)) if not distance or is_trusted else search


def _offset(certain: list[tuple[int, int]], index: int) -> int:
    """Return how far the nearest hunk with a certain place is from its stated line."""
    if not certain:
        return 0
    at = bisect_left(certain, (index, 0))
    return min(certain[max(at - 1, 0) : at + 1], key=lambda known: abs(known[0] - index))[1]


_EXACT = (Tier.LITERAL, Tier.EXACT)
_LONGEST = 1_000_000
"""Characters. A longer hunk is only matched exactly."""


def locate_all(file: SearchableFile, hunks: tuple[Hunk, ...]) -> list[HunkSearch]:
    """Give every hunk one place if that is certain, otherwise all its possible places or a failure."""
    found = narrow_places(file.lines, [_seek(file, hunk) for hunk in hunks])
    return [
        replace(search, failure=ErrorType.AMBIGUOUS_MATCH) if len(search.places) > 1 else search
        for search in found
    ]


def _seek(file: SearchableFile, hunk: Hunk) -> HunkSearch:
    if hunk.script.changes_nothing:
        return HunkSearch(hunk, hunk.script, failure=ErrorType.INVALID_TOOL_PARAMS)
    if not hunk.script.old:
        return _insertion(file, hunk)
    for readings in _readings(file, hunk.script):
        if found := _by_tiers(file, hunk, readings):
            return found
    if hunk.script.size > _LONGEST:
        return HunkSearch(hunk, hunk.script, failure=ErrorType.CONTEXT_MISMATCH)
    if is_applied(file, hunk.script):
        return HunkSearch(hunk, hunk.script, failure=ErrorType.ALREADY_APPLIED)
    script = _resigned(file, hunk.script)
    if places := approximate_places(file, script):
        if any(is_added_near(file, script, place) for place in places):
            return HunkSearch(hunk, hunk.script, failure=ErrorType.ALREADY_APPLIED)
        return HunkSearch(hunk, script, tuple(places))
    return HunkSearch(hunk, hunk.script, failure=ErrorType.CONTEXT_MISMATCH)


def _by_tiers(file: SearchableFile, hunk: Hunk, readings: list[Script]) -> HunkSearch | None:
    for script in readings:
        if places := places_by_tier(file, script, _EXACT):
            if script is not hunk.script and _is_shifted_by_one(hunk.script, script):
                break
            if len(places) == 1 and is_added_at(file, script, places[0], places[0].end):
                return HunkSearch(hunk, script, failure=ErrorType.ALREADY_APPLIED)
            return HunkSearch(hunk, script, tuple(places + _blank_differences(file, hunk, script, places)))
    if hunk.script.size > _LONGEST:
        return None
    for script in readings:
        if places := places_by_tier(file, script, LENIENT):
            if any(is_likelier_applied(file, script, place) for place in places):
                return HunkSearch(hunk, script, failure=ErrorType.ALREADY_APPLIED)
            if len(places) == 1:
                if is_added_at(file, script, places[0], places[0].end):
                    return HunkSearch(hunk, script, failure=ErrorType.ALREADY_APPLIED)
                places += rivals_as_indented(file, script, places[0], hunk.line or 0)
            return HunkSearch(hunk, script, tuple(places))
    return None


def _is_shifted_by_one(script: Script, resigned: Script) -> bool:
    """Return whether the hunk has one blank too few on every line, not context that lost its sign.

    The added lines tell which it is: they are indented like the lines around them.
    """
    drops_text = any(line.mark is Mark.DROP and line.text.strip() for line in script.lines)
    if resigned.old == script.old or drops_text:
        # Removed lines were found as written, so they lack nothing.
        return False
    added = [
        normalize.lead(line.text) for line in script.lines if line.mark is Mark.ADD and line.text.strip()
    ]
    shifted, fixed = (
        {normalize.lead(text) for text in side.old if text.strip()} for side in (script, resigned)
    )
    return sum(lead in shifted for lead in added) > sum(lead in fixed for lead in added)


def _blank_differences(
    file: SearchableFile, hunk: Hunk, script: Script, places: list[Placement]
) -> list[Placement]:
    """Return the stated line if it fits except for blanks: then an exact match elsewhere is not certain."""
    if hunk.line is None or any(place.start == hunk.line - 1 for place in places):
        return []
    found = places_by_tier(file, script, (Tier.TRIMMED,))
    return [place for place in found if place.start == hunk.line - 1]


def _readings(file: SearchableFile, script: Script) -> list[list[Script]]:
    """Return the hunk as written and with signs restored.

    After that, lines between added ones count as added: their sign was lost. At last, blank lines at the
    edges are left out.
    """
    resigned = _resigned(file, script)
    whole = list(dict.fromkeys((script, resigned)))
    found = [whole]
    for other in (
        _resigned(file, _readded(file, script)),
        _without_blank_edges(resigned),
        _unescaped(script),
    ):
        if other.old and other not in whole:
            found.append([other])
    return found


def _resigned(file: SearchableFile, script: Script) -> Script:
    """Restore the first blank of context lines that lost their sign, if the file has such lines."""
    texts = {
        index: f" {line.text}"
        for index, line in enumerate(script.lines)
        if line.mark is Mark.KEEP and line.text not in file.line_set and f" {line.text}" in file.line_set
    }
    return script.with_keeps(texts) if texts else script


def _readded(file: SearchableFile, script: Script) -> Script:
    """Return the script with the lines between added lines added as well, if the file has none of them."""
    runs = [(mark, list(lines)) for mark, lines in groupby(script.lines, key=lambda line: line.mark)]
    marks = [mark for mark, _ in runs]
    lines: list[ScriptLine] = []
    for at, (mark, run) in enumerate(runs):
        is_between = (
            mark is Mark.KEEP and marks[max(at - 1, 0)] is marks[min(at + 1, len(marks) - 1)] is Mark.ADD
        )
        is_context = any(line.text.strip() and normalize.spaceless(line.text) in file.present for line in run)
        lines += [_as_added(line) for line in run] if is_between and not is_context else run
    return Script(tuple(lines))


def _unescaped(script: Script) -> Script:
    """Return the script with characters in place of HTML entities."""
    if not any("&" in line.text for line in script.lines):
        return script
    return Script(tuple(replace(line, text=html.unescape(line.text)) for line in script.lines))


def _as_added(line: ScriptLine) -> ScriptLine:
    # What was read as the blank of a context line is the first of the line's own.
    text = f" {line.text}" if line.has_sign and line.text.strip() else line.text
    return replace(line, mark=Mark.ADD, text=text)


def _without_blank_edges(script: Script) -> Script:
    lines = list(script.lines)
    while lines and _is_blank(lines[-1]):
        lines.pop()
    while lines and _is_blank(lines[0]):
        del lines[0]
    return Script(tuple(lines))


def _is_blank(line: ScriptLine) -> bool:
    return line.mark is Mark.KEEP and not line.text.strip()


def _insertion(file: SearchableFile, hunk: Hunk) -> HunkSearch:
    """Place a hunk without context: at the end, under its anchor, or into an empty file."""
    size = len(file.lines.raw)
    row = anchor_row(file.lines, hunk.anchors)
    if not size or hunk.is_at_end or hunk.appends:
        at = size
    elif row is not None and hunk.line is None:
        at = row + 1
    else:
        return HunkSearch(hunk, hunk.script, failure=ErrorType.CONTEXT_MISMATCH)
    brings_ends = not size or any(line.text.endswith("\r") for line in hunk.script.lines)
    tier = Tier.LITERAL if brings_ends else Tier.EXACT
    return HunkSearch(hunk, hunk.script, (Placement((), at, tier, Strategy.EXACT),))
