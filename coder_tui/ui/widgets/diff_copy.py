"""What a selection in a diff means: code of one side, without numbers, signs and fillers."""

from collections.abc import Sequence

from textual.selection import Selection
from textual.strip import Strip

from coder_tui.ui.drawing.diff_rows import DiffLook


def code_columns(look: DiffLook, selection: Selection, edge: int) -> tuple[int, int]:
    """The columns of code on the side where the selection began."""
    if not look.is_split:
        return edge + look.gutter, edge + look.width
    middle = edge + look.halves[0]
    is_old = selection.start is not None and selection.start.x <= middle
    return (edge + look.gutter, middle) if is_old else (middle + 1 + look.gutter, edge + look.width)


def copied(strips: Sequence[Strip], selection: Selection, look: DiffLook, edge: int) -> str:
    """Lines of code; a line that was wrapped is one line again."""
    start, end = code_columns(look, selection, edge)
    lines: list[str] = []
    is_full = True
    for number, strip in enumerate(strips):
        gutter = strip.crop(start - look.gutter, start).text
        text = _part(strip, selection, start, end, number, len(strips))
        if look.marking.glyphs.wrapped in gutter and lines:
            lines[-1] += ("" if is_full else " ") + text.lstrip(" ")
        elif any(char.isdigit() for char in gutter):
            lines.append(text)
        # A row with room left was broken at a blank.
        is_full = strip.crop(end - 1, end).text != " "
    return "\n".join(lines)


def _part(strip: Strip, selection: Selection, start: int, end: int, number: int, count: int) -> str:
    """A row's code, cut where the selection begins and ends."""
    text = strip.crop(0, end).text
    first = len(strip.crop(0, start).text)
    last = len(text)
    if number == 0 and selection.start is not None:
        first = max(first, selection.start.x)
    if number == count - 1 and selection.end is not None:
        last = min(last, selection.end.x)
    return text[first:last].rstrip()
