"""Tells which of several places is under the line that a patch names above its change."""

from coder_tui.tools.editing import fold
from coder_tui.tools.editing.lines import FileLines
from coder_tui.tools.editing.tiers import Placement

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
    wanted = fold.punctuation(anchor)
    lines = [(at, fold.punctuation(file.seen[at])) for at in range(*scope)]
    rows = [at for at, line in lines if line == wanted]
    if not rows and len(wanted) >= _SHORTEST:
        # Headings of hunks are cut, and models leave off the end of a line.
        rows = [at for at, line in lines if line.startswith(wanted)]
    return [(row, _block_end(file, row, scope[1])) for row in rows]


def _block_end(file: FileLines, row: int, limit: int) -> int:
    """The next line that stands as far out as the anchor, but for what closes its signature or body."""
    depth = len(fold.lead(file.seen[row]).expandtabs(8))
    for at in range(row + 1, limit):
        body = file.seen[at].strip()
        is_out = len(fold.lead(file.seen[at]).expandtabs(8)) <= depth
        if body and is_out and body[0] not in _CLOSERS:
            return at
    return limit
