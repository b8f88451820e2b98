"""Turn Rich text and plain strings into rows of an exact width."""

from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import zip_longest

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from coder_tui.ui.draw.palette import Palette

CONSOLE = Console(
    width=80, color_system="truecolor", legacy_windows=False, force_terminal=True, file=StringIO()
)
"""Rich needs a console to wrap and render; nothing is ever printed to this one."""

TAB = 4
NARROWEST = 4
"""Columns: below this, text is cut off instead of wrapped."""

LONGEST_LINE = 3000
"""Characters of a line that are drawn: a longer one is data, not text."""


def to_strip(text: Text, width: int, fill: Style) -> Strip:
    # Rich ignores a text's own style if no span is styled.
    ink = fill + text.style if isinstance(text.style, Style) else fill
    segments = [
        Segment(segment.text, ink + segment.style if segment.style else ink)
        for segment in text.render(CONSOLE, end="")
    ]
    return filled(segments, width, fill)


def plain_strip(text: str, width: int, style: Style) -> Strip:
    if not text:
        return Strip.blank(width, style)
    return filled([Segment(text, style)], width, style)


def filled(segments: list[Segment], width: int, fill: Style) -> Strip:
    """Make a row of an exact width. It makes one strip, since that is most of the cost of drawing."""
    length = sum(cell_len(segment.text) for segment in segments)
    if length > width:
        return Strip(segments, length).crop(0, width)
    if length < width:
        segments.append(Segment(" " * (width - length), fill))
    return Strip(segments, width)


def wrapped(text: Text, width: int) -> Iterator[Text]:
    """Wrap text at words."""
    for line in text.wrap(CONSOLE, max(NARROWEST, width), tab_size=TAB):
        line.rstrip()
        yield line


def clipped(line: str, more: str, *, is_whole: bool = False) -> str:
    """Expand tabs, and cut off a very long line with a mark."""
    if len(line) > LONGEST_LINE and not is_whole:
        line = f"{line[:LONGEST_LINE]}{more} {len(line) - LONGEST_LINE} more characters"
    return line.expandtabs(TAB) if "\t" in line else line


def cut(text: str, width: int, more: str) -> str:
    """Cut off text at a width, with a mark if something is missing."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(0, width - cell_len(more))).rstrip() + more


def cut_text(text: Text, width: int, more: str) -> None:
    """Cut off Rich text in place; Rich itself knows only one mark."""
    if text.cell_len > width:
        text.truncate(max(0, width - cell_len(more)))
        text.append(more)


def chopped(line: str, width: int) -> list[str]:
    """Break a line anywhere: for code, where columns count."""
    if cell_len(line) <= width:
        return [line]
    return chop_cells(line, max(NARROWEST, width))


def broken(line: str, width: int) -> list[str]:
    """Break a line after blanks if possible; the pieces together are the line."""
    width = max(NARROWEST, width)
    if cell_len(line) <= width:
        return [line]
    pieces = []
    start = 0
    while start < len(line):
        # No character is narrower than a cell, except combining ones.
        piece = chop_cells(line[start : start + width], width)[0]
        end = start + len(piece)
        blank = piece.rfind(" ")
        if line[end : end + 1] == " ":
            end += 1  # the blank at the end of a row would not be visible
        elif end < len(line) and piece[: max(0, blank)].strip():
            end = start + blank + 1
        pieces.append(line[start:end])
        start = end
    return pieces


def plain_rows(
    lines: Iterable[str], width: int, style: Style, more: str, *, is_whole: bool = False
) -> Iterator[Strip]:
    """Draw lines of output with all their blanks; `more` marks a line that is cut off."""
    for line in lines:
        for piece in broken(clipped(line, more, is_whole=is_whole), width):
            yield plain_strip(piece, width, style)


def prefix_rows(edge: Strip, rows: Iterable[Strip]) -> list[Strip]:
    """Put the same few cells before each row."""
    return [Strip.join([edge, row]) for row in rows]


_GAP = 3


def table_strips(
    heading: Sequence[Text],
    rows: Sequence[Sequence[Text]],
    width: int,
    palette: Palette,
    sides: Sequence[str] = (),
) -> list[Strip]:
    """Draw a table. A heading without cells is left out; `sides` has the alignment of each column."""
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
    """Return natural widths; if they do not fit, the widest columns shrink first."""
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
