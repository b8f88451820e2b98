"""Tells whether a change has been made before, so that it is not made twice."""

from coder_tui.tools.editing.script import Mark, Script, ScriptLine
from coder_tui.tools.editing.tiers import TELLING, Placement, Searched, Tier, places_by_tier

_SURE = (Tier.LITERAL, Tier.EXACT, Tier.TRAILING, Tier.SHIFTED)


def is_applied(file: Searched, script: Script) -> bool:
    """Whether the new side is in the file; asked only when the old side is not."""
    new = _as_old(script)
    return new.significant >= TELLING and bool(places_by_tier(file, new, _SURE))


def is_applied_at(file: Searched, script: Script, place: Placement) -> bool:
    """Whether the lines where the old side was found forgivingly are the new side exactly."""
    if len(script.new) < len(script.old):
        return False
    found = places_by_tier(file, _as_old(script), (Tier.EXACT,))
    return any(new.start <= place.start and new.end >= place.end for new in found)


def _as_old(script: Script) -> Script:
    return Script(tuple(ScriptLine(Mark.KEEP, text) for text in script.new))
