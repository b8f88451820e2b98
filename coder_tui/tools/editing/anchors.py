"""Find the part of a file that the lines named by `@@` lead to, and the places in it."""

import re

from coder_tui.tools.editing import normalize
from coder_tui.tools.editing.script import FileLines
from coder_tui.tools.editing.tiers import Placement

_CLOSERS = ")]}{"
_HEADING = re.compile(
    r"\s*(?:(?:async|export|default|public|private|protected|static|abstract|pub|final) +)*"
    r"(?:def|class|func|function|fn|interface|struct|enum|impl|trait|module|export|public|private)\b(?!\s*:)"
)
_SHORTEST = 3


_MOST_SCOPES = 50
"""A line that stands in more places names none of them."""


def under_anchors(file: FileLines, anchors: tuple[str, ...], places: list[Placement]) -> list[Placement]:
    """Return the places inside the innermost block that the anchors lead to; all if they lead nowhere.

    Where the anchor begins no block, as in a list or a text, the first place after it is meant.
    """
    scopes = [(0, len(file.seen))]
    are_found, is_any_found = bool(anchors), False
    for anchor in anchors:
        deeper = list(dict.fromkeys(inner for scope in scopes for inner in _blocks(file, anchor, scope)))
        if len(deeper) > _MOST_SCOPES:
            return places
        are_found, is_any_found = are_found and bool(deeper), is_any_found or bool(deeper)
        scopes = deeper or scopes
    if not is_any_found:
        return places
    inside = [place for place in places if any(_touches(place, scope) for scope in scopes)]
    after = [place for place in inside if any(scope[0] < place.start < scope[1] for scope in scopes)]
    if are_found and after and all(_is_flat(file, scope) for scope in scopes):
        return after[:1] if len(scopes) == 1 else after
    if inside or not are_found:
        return after or inside or places
    return [place for place in places if any(_is_below(file, scope[0], place) for scope in scopes)]


def _is_below(file: FileLines, row: int, place: Placement) -> bool:
    """Return whether no heading of another block stands between a line and a place below it."""
    depth = _depth(file, row)
    between = range(row + 1, place.start)
    return row < place.start and not any(
        _HEADING.match(file.seen[at]) and _depth(file, at) <= depth for at in between
    )


def _depth(file: FileLines, row: int) -> int:
    return len(normalize.lead(file.seen[row]).expandtabs(8))


def anchor_row(file: FileLines, anchors: tuple[str, ...]) -> int | None:
    """Return the one line that the anchors lead to; None if there is none or several."""
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
        # Git cuts hunk headings, and models leave off the end of a line.
        rows = [at for at, line in lines if line.startswith(wanted)]
    if len(rows) > _MOST_SCOPES:
        return [(row, scope[1]) for row in rows]
    return [(row, _block_end(file, row, scope[1])) for row in rows]


def _is_flat(file: FileLines, scope: tuple[int, int]) -> bool:
    return _indented_end(file, *scope) < scope[1]


def _block_end(file: FileLines, row: int, limit: int) -> int:
    """Return where the block ends that a line begins; `limit` if it begins none."""
    end = _indented_end(file, row, limit)
    return end if any(line.strip() for line in file.seen[row + 1 : end]) else limit


def _indented_end(file: FileLines, row: int, limit: int) -> int:
    """Return the next line that is indented no deeper than the anchor and does not just close it."""
    depth = _depth(file, row)
    for at in range(row + 1, limit):
        body = file.seen[at].strip()
        is_out = _depth(file, at) <= depth
        if body and is_out and body[0] not in _CLOSERS:
            return at
    return limit
