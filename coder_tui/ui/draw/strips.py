"""Rich text and plain strings as rows of exactly one width."""

from collections.abc import Iterable, Iterator
from io import StringIO

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

CONSOLE = Console(
    width=80, color_system="truecolor", legacy_windows=False, force_terminal=True, file=StringIO()
)
"""Rich wraps and renders only beside a console; nothing is ever printed to this one."""

TAB = 4
NARROWEST = 4
"""Below this many columns text is cut instead of wrapped."""

LONGEST_LINE = 3000
"""Characters of one line that are drawn: a longer one is data, not text."""


def to_strip(text: Text, width: int, fill: Style) -> Strip:
    # Rich leaves out a text's own style where no span is styled.
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
    """A row of exactly a width. One strip is made, since making them is most of the cost of drawing."""
    length = sum(cell_len(segment.text) for segment in segments)
    if length > width:
        return Strip(segments, length).crop(0, width)
    if length < width:
        segments.append(Segment(" " * (width - length), fill))
    return Strip(segments, width)


def wrapped(text: Text, width: int) -> Iterator[Text]:
    """Rows of words."""
    for line in text.wrap(CONSOLE, max(NARROWEST, width), tab_size=TAB):
        line.rstrip()
        yield line


def clipped(line: str, more: str, *, is_whole: bool = False) -> str:
    """A line as it is drawn: tabs made spaces, an endless one cut with a mark that says so."""
    if len(line) > LONGEST_LINE and not is_whole:
        line = f"{line[:LONGEST_LINE]}{more} {len(line) - LONGEST_LINE} more characters"
    return line.expandtabs(TAB) if "\t" in line else line


def cut(text: str, width: int, more: str) -> str:
    """At most so many cells, with a mark where something is missing."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(0, width - cell_len(more))).rstrip() + more


def cut_text(text: Text, width: int, more: str) -> None:
    """As `cut`, in place; Rich itself knows one mark only."""
    if text.cell_len > width:
        text.truncate(max(0, width - cell_len(more)))
        text.append(more)


def chopped(line: str, width: int) -> list[str]:
    """Pieces of a line, broken anywhere: for code, where columns count."""
    if cell_len(line) <= width:
        return [line]
    return chop_cells(line, max(NARROWEST, width))


def broken(line: str, width: int) -> list[str]:
    """Pieces of a line, broken after a blank where there is one; together they are the line."""
    width = max(NARROWEST, width)
    if cell_len(line) <= width:
        return [line]
    pieces = []
    start = 0
    while start < len(line):
        # No character is narrower than a cell, but for those that join another.
        piece = chop_cells(line[start : start + width], width)[0]
        end = start + len(piece)
        blank = piece.rfind(" ")
        if line[end : end + 1] == " ":
            end += 1  # it falls off the row, where nobody would see it
        elif end < len(line) and piece[: max(0, blank)].strip():
            end = start + blank + 1
        pieces.append(line[start:end])
        start = end
    return pieces


def plain_rows(
    lines: Iterable[str], width: int, style: Style, more: str, *, is_whole: bool = False
) -> Iterator[Strip]:
    """Lines of output with all their blanks; `more` marks one that is cut."""
    for line in lines:
        for piece in broken(clipped(line, more, is_whole=is_whole), width):
            yield plain_strip(piece, width, style)


def beside(edge: Strip, rows: Iterable[Strip]) -> list[Strip]:
    """Rows with the same few cells before each."""
    return [Strip.join([edge, row]) for row in rows]
