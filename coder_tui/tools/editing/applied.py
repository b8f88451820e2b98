"""Tells whether a change has been made before, so that it is not made twice."""

from coder_tui.tools.editing.script import Mark, Script, ScriptLine
from coder_tui.tools.editing.tiers import TELLING, Placement, Searched, Tier, places_by_tier

_SURE = (Tier.LITERAL, Tier.EXACT, Tier.TRAILING, Tier.SHIFTED)


def is_applied(file: Searched, script: Script) -> bool:
    """Whether the new side is in the file; asked only when the old side is not."""
    new = _as_old(script)
    return new.significant >= TELLING and bool(places_by_tier(file, new, _SURE))


def is_likelier_applied(file: Searched, script: Script, place: Placement) -> bool:
    """Whether the new side is in the file exactly, while the old side was found by forgiving something."""
    new = _as_old(script)
    if place.tier <= Tier.EXACT or new.significant < TELLING:
        return False
    found = places_by_tier(file, new, (Tier.EXACT,))
    # Where lines only go, what stays is in the file anyway; it says something only in another place.
    return any(len(script.new) >= len(script.old) or not _overlap(other, place) for other in found)


def _overlap(one: Placement, other: Placement) -> bool:
    return one.start < other.end and other.start < one.end


def _as_old(script: Script) -> Script:
    return Script(tuple(ScriptLine(Mark.KEEP, text) for text in script.new))
