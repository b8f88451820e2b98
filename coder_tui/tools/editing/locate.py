"""Finds the place of each hunk in a file, all hunks seen together."""

from dataclasses import replace

from coder_tui.protocol.errors import ErrorType
from coder_tui.tools.editing import fold
from coder_tui.tools.editing.anchors import anchor_row
from coder_tui.tools.editing.applied import is_applied, is_likelier_applied
from coder_tui.tools.editing.approximate import approximate_places
from coder_tui.tools.editing.narrow import Sought, narrowed
from coder_tui.tools.editing.patch_model import Hunk
from coder_tui.tools.editing.script import Mark, Script, ScriptLine
from coder_tui.tools.editing.strategy import Strategy
from coder_tui.tools.editing.tiers import LENIENT, Placement, Searched, Tier, places_by_tier

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
    added = [fold.lead(line.text) for line in script.lines if line.mark is Mark.ADD and line.text.strip()]
    shifted, fixed = ({fold.lead(text) for text in side.old if text.strip()} for side in (script, resigned))
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
