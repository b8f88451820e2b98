"""Rows of cells as a table that fits its width: cells wrap, nothing is cut away."""

from collections.abc import Sequence
from itertools import zip_longest

from rich.text import Text
from textual.strip import Strip

from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.strips import NARROWEST, to_strip, wrapped

_GAP = 3


def table_strips(
    heading: Sequence[Text],
    rows: Sequence[Sequence[Text]],
    width: int,
    palette: Palette,
    sides: Sequence[str] = (),
) -> list[Strip]:
    """A heading of no cells is not drawn. `sides` says of each column where its text stands."""
    everything = [row for row in (heading, *rows) if row]
    if not everything:
        return []
    widths = _widths(everything, width)
    sides = [*sides, *["left"] * (len(widths) - len(sides))]
    strips: list[Strip] = []
    if heading:
        strips += [*_row(heading, widths, width, palette, sides), _rule(widths, width, palette)]
    for row in rows:
        strips += _row(row, widths, width, palette, sides)
    return strips


def _widths(rows: Sequence[Sequence[Text]], width: int) -> list[int]:
    """Natural widths; where they do not fit, the widest columns give way first."""
    columns = max(map(len, rows))
    widths = [max((_cell_width(row, i) for row in rows), default=1) or 1 for i in range(columns)]
    room = max(columns * NARROWEST, width - _GAP * (columns - 1))
    while (excess := sum(widths) - room) > 0:
        widest = max(widths)
        second = max((each for each in widths if each < widest), default=NARROWEST)
        wide = [i for i, each in enumerate(widths) if each == widest]
        share = max(1, min(widest - second, -(-excess // len(wide))))
        for i in wide:
            widths[i] -= min(share, max(0, sum(widths) - room))
    return widths


def _cell_width(row: Sequence[Text], column: int) -> int:
    return row[column].cell_len if column < len(row) else 0


def _row(
    row: Sequence[Text], widths: Sequence[int], width: int, palette: Palette, sides: Sequence[str]
) -> list[Strip]:
    empty = Text(end="")
    cells = [list(wrapped(cell, room)) or [empty] for cell, room in zip(row, widths, strict=False)]
    cells += [[empty]] * (len(widths) - len(cells))
    bar = Text(f" {palette.glyphs.edge} ", palette.dim)
    strips = []
    for parts in zip_longest(*cells, fillvalue=empty):
        line = Text(end="")
        for number, (part, room) in enumerate(zip(parts, widths, strict=True)):
            if number:
                line.append_text(bar)
            _put(line, part, room, sides[number])
        strips.append(to_strip(line, width, palette.base))
    return strips


def _put(line: Text, cell: Text, room: int, side: str) -> None:
    spare = max(0, room - cell.cell_len)
    before = {"right": spare, "center": spare // 2}.get(side, 0)
    line.append(" " * before)
    line.append_text(cell)
    line.append(" " * (spare - before))


def _rule(widths: Sequence[int], width: int, palette: Palette) -> Strip:
    glyphs = palette.glyphs
    cross = glyphs.rule + glyphs.cross + glyphs.rule
    return to_strip(Text(cross.join(glyphs.rule * room for room in widths), palette.dim), width, palette.base)
