"""Carries a change inside one line over to the file's own wording of that line."""

from rapidfuzz.distance import Indel

from coder_tui.tools.editing import fold

_LONGEST = 2_000


def carried(old: str, new: str, own: str) -> str:
    """Return `own` changed as `old` was to `new`; the three come without their leads.

    `old` and `own` are the same line but for blanks and typographic characters. What old and new share keeps
    the file's characters.
    """
    if old.rstrip() == own.rstrip() or max(len(old), len(new), len(own)) > _LONGEST:
        return new
    ends = _ends(old, own)
    if ends is None:
        return new
    pieces: list[str] = []
    for step in Indel.opcodes(old, new):
        if step.tag == "equal":
            pieces.append(own[ends[step.src_start] : ends[step.src_end]])
        elif step.tag in ("insert", "replace"):
            pieces.append(new[step.dest_start : step.dest_end])
    return "".join(pieces)


def _ends(old: str, own: str) -> list[int] | None:
    """For every offset of `old` the offset of `own` that it stands for."""
    ends = [0]
    at = 0
    for character in old:
        folded = fold.spaceless(character)
        if folded:
            taken = ""
            while at < len(own) and len(taken) < len(folded):
                taken += fold.spaceless(own[at])
                at += 1
            if not folded.startswith(taken) and not taken.startswith(folded):
                return None
        elif at < len(own) and not fold.spaceless(own[at]):
            at += 1
        ends.append(at)
    ends[-1] = len(own)
    return ends
