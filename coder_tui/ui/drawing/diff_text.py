"""One line of a diff as segments: safe, tabs made blanks, changed words and white space made visible."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from coder_tui.diffs.emphasis import Span
from coder_tui.diffs.lines import end_of
from coder_tui.diffs.rows import Cell
from coder_tui.text.safe_text import safe_text
from coder_tui.ui.drawing.code import LONGEST_COLOURED, CodeLine
from coder_tui.ui.drawing.diff_inks import Ground
from coder_tui.ui.drawing.glyphs import Glyphs
from coder_tui.ui.drawing.strips import LONGEST_LINE, TAB

_NONE: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Marking:
    """Which white space is shown as signs besides what changed."""

    glyphs: Glyphs
    all_blanks: bool = False
    line_ends: bool = False
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """A line as it is drawn; `offsets` has where each of its characters went, None where none moved."""

    text: str
    offsets: Sequence[int] | None = None

    def place(self, index: int) -> int:
        return index if self.offsets is None else self.offsets[index]


def shown(line: str, *, is_whole: bool = False) -> Shown:
    line = line if is_whole else line[:LONGEST_LINE]
    text = safe_text(line)
    if text == line and "\t" not in line:
        return Shown(text)
    pieces: list[str] = []
    offsets = [0]
    column = 0
    for char in line:
        piece = " " * (TAB - column % TAB) if char == "\t" else safe_text(char)
        pieces.append(piece)
        offsets.append(offsets[-1] + len(piece))
        column += cell_len(piece)
    return Shown("".join(pieces), offsets)


def coloured_part(line: str) -> str:
    """What a lexer gets to see of a line."""
    return shown(line).text[:LONGEST_COLOURED]


def cell_segments(cell: Cell, ground: Ground, marking: Marking, colours: CodeLine | None) -> list[Segment]:
    """The line itself, and what tells that it is cut or ends unusually."""
    body = cell.body
    text = shown(body, is_whole=marking.is_whole)
    limit = len(body) if marking.is_whole else min(len(body), LONGEST_LINE)
    marks = _marks(cell, body[:limit], marking)
    if cell.emphasis or marks:
        segments = list(
            _grouped(text, _styles(cell, text, ground, colours, marks, limit), marks, body, marking)
        )
    else:
        segments = list(_plain(text.text, ground, colours))
    if limit < len(body):
        words = f"{marking.glyphs.more} {len(body) - limit} more characters"
        segments.append(Segment(words, ground.mark))
    if end_of(cell.line) == "\r\n" and (marking.all_blanks or (marking.line_ends and cell.is_changed)):
        segments.append(Segment(marking.glyphs.carriage_return, ground.mark))
    return segments


def _plain(text: str, ground: Ground, colours: CodeLine | None) -> Iterator[Segment]:
    at = 0
    for part in colours or ():
        style = ground.plain if part.style is None else ground.syntax[part.style]
        yield Segment(part.text, style)
        at += len(part.text)
    if at < len(text):
        yield Segment(text[at:], ground.plain)


def _marks(cell: Cell, body: str, marking: Marking) -> frozenset[int]:
    """Characters that are drawn as signs: all blanks, or those that changed or end a changed line."""
    if marking.all_blanks:
        return frozenset(index for index, char in enumerate(body) if char in " \t")
    if not cell.is_changed or not (cell.emphasis or body.endswith((" ", "\t"))):
        return _NONE
    end = len(body.rstrip(" \t"))
    spans: list[Span] = [(start, stop) for start, stop in cell.emphasis if body[start:stop].isspace()]
    spans.append((end, len(body)))
    return frozenset(
        index for start, stop in spans for index in range(start, min(stop, len(body))) if body[index] in " \t"
    )


def _styles(
    cell: Cell,
    text: Shown,
    ground: Ground,
    colours: CodeLine | None,
    marks: frozenset[int],
    limit: int,
) -> list[Style]:
    """A style for each character that is drawn."""
    kinds: list[Style | None] = []
    for part in colours or ():
        kinds += [part.style] * len(part.text)
    kinds += [None] * (len(text.text) - len(kinds))
    styles = [ground.plain if kind is None else ground.syntax[kind] for kind in kinds]
    for start, stop in cell.emphasis:
        for at in range(text.place(min(start, limit)), text.place(min(stop, limit))):
            kind = kinds[at]
            styles[at] = ground.word if kind is None else ground.word_syntax[kind]
    for index in marks:
        at = text.place(index)
        is_word = any(start <= index < stop for start, stop in cell.emphasis)
        styles[at] = ground.word if is_word else ground.mark
    return styles


def _grouped(
    text: Shown, styles: Sequence[Style], marks: frozenset[int], body: str, marking: Marking
) -> Iterator[Segment]:
    chars = list(text.text)
    for index in marks:
        chars[text.place(index)] = marking.glyphs.tab if body[index] == "\t" else marking.glyphs.blank
    at = 0
    for style, run in groupby(styles):
        length = sum(1 for _ in run)
        yield Segment("".join(chars[at : at + length]), style)
        at += length
