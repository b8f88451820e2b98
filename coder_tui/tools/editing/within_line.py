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
    bounds = _bounds(old, own)
    if bounds is None:
        return new
    pieces: list[str] = []
    for step in Indel.opcodes(old, new):
        if step.tag == "equal":
            pieces.append(own[bounds[step.src_start] : bounds[step.src_end]])
        elif step.tag in ("insert", "replace"):
            pieces.append(new[step.dest_start : step.dest_end])
    return "".join(pieces)


def _bounds(old: str, own: str) -> list[int] | None:
    """For every offset of `old` the offset of `own` that it stands for; None if they are different lines."""
    spans: list[tuple[int, int]] = []
    for at, character in enumerate(own):
        spans += [(at, at + 1)] * len(fold.spaceless(character))
    if fold.spaceless(old) != fold.spaceless(own):
        return None
    bounds: list[int] = []
    count = 0
    for character in old:
        size = len(fold.spaceless(character))
        # Blanks of the file's own stand before the next character, not after a cut.
        bounds.append(spans[count][0] if size else (spans[count - 1][1] if count else 0))
        count += size
    return [*bounds, len(own)]
