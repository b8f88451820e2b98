"""Draw one line of a diff: safe, with tabs expanded, changed words and whitespace made visible.

The styles are derived from the palette, readable on every background, with changed words stronger.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from rich.cells import cell_len
from rich.color import Color, ColorType, blend_rgb
from rich.color_triplet import ColorTriplet
from rich.segment import Segment
from rich.style import Style

from coder_tui.diffs.rows import Cell
from coder_tui.diffs.words import Span
from coder_tui.protocol.comparison import end_of
from coder_tui.text.safe_text import safe_text
from coder_tui.ui.draw.code import LONGEST_COLORED, CodeLine
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.strips import LONGEST_LINE, TAB
from coder_tui.ui.glyphs import Glyphs

READABLE = 4.5
VISIBLE = 3.0
_FADES = (0.0, 0.25, 0.5, 0.75)
"""How far a color may be blended with the line's own color to be readable."""
_STRENGTHS = (0.3, 0.26, 0.22, 0.18, 0.14, 0.1)
"""How far a changed word's background is blended with the text color; the first readable one is used."""


@dataclass(frozen=True, slots=True)
class LineStyles:
    """The styles of one kind of line; the keys of `syntax` and `word_syntax` are styles of the palette."""

    plain: Style
    word: Style
    sign: Style
    mark: Style
    syntax: Mapping[Style, Style]
    word_syntax: Mapping[Style, Style]


@dataclass(frozen=True, slots=True)
class DiffStyles:
    same: LineStyles
    added: LineStyles
    deleted: LineStyles
    dim: Style
    filler: Style


def diff_styles(palette: Palette) -> DiffStyles:
    kinds = tuple(palette.syntax.values())
    return DiffStyles(
        same=_line_styles(palette.base, palette.base, palette.dim, kinds),
        added=_line_styles(palette.add, palette.add_sign, palette.dim, kinds),
        deleted=_line_styles(palette.delete, palette.delete_sign, palette.dim, kinds),
        dim=palette.dim,
        filler=_faded(palette.dim),
    )


@lru_cache(32)
def _line_styles(plain: Style, sign: Style, dim: Style, kinds: tuple[Style, ...]) -> LineStyles:
    word = _word(plain)
    return LineStyles(
        plain=plain,
        word=word,
        sign=sign,
        mark=_readable(plain, Style(color=dim.color)),
        syntax={kind: _readable(plain, kind) for kind in kinds},
        word_syntax={kind: _readable(word, kind) for kind in kinds},
    )


def _word(plain: Style) -> Style:
    """Return the style of a changed word: also bold, so that it shows without colors."""
    ink, ground = rgb(plain.color), rgb(plain.bgcolor)
    if ink is None or ground is None:
        return plain + Style(bold=True, underline=True)
    for strength in _STRENGTHS:
        stronger = blend_rgb(ground, ink, strength)
        if contrast(ink, stronger) >= READABLE:
            return plain + Style(bgcolor=Color.from_triplet(stronger), bold=True)
    return plain + Style(bold=True, underline=True)


def _readable(ground: Style, ink: Style) -> Style:
    """Put a style on a background, keeping its color as far as it is readable there."""
    color, own, back = rgb(ink.color), rgb(ground.color), rgb(ground.bgcolor)
    if color is None or own is None or back is None:
        return ground + ink if _is_readable(ink.color, ground.bgcolor) else ground + Style(italic=ink.italic)
    for fade in _FADES:
        nearer = blend_rgb(color, own, fade)
        if contrast(nearer, back) >= READABLE:
            return ground + ink + Style(color=Color.from_triplet(nearer))
    return ground + Style(italic=ink.italic)


def _is_readable(ink: Color | None, ground: Color | None) -> bool:
    """Compare colors that the terminal knows by number, as most terminals show them."""
    if ink is None or ground is None or ink.is_default or ground.is_default:
        return True
    return contrast(ink.get_truecolor(), ground.get_truecolor()) >= READABLE


def _faded(ink: Style) -> Style:
    """Fade a style as much as possible while it is still visible."""
    color, back = rgb(ink.color), rgb(ink.bgcolor)
    if color is None or back is None:
        return ink
    fades = (blend_rgb(color, back, 1 - strength / 20) for strength in range(1, 20))
    seen = next((fade for fade in fades if contrast(fade, back) >= VISIBLE), color)
    return ink + Style(color=Color.from_triplet(seen))


def rgb(color: Color | None) -> ColorTriplet | None:
    return color.triplet if color is not None and color.type is ColorType.TRUECOLOR else None


def contrast(one: ColorTriplet, other: ColorTriplet) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: ColorTriplet) -> float:
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color.normalized
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


_NONE: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class WhitespaceMarks:
    """Which whitespace is shown as signs, besides what changed."""

    glyphs: Glyphs
    all_blanks: bool = False
    line_ends: bool = False
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """A line as it is drawn; `offsets` has the new place of each character, None if none moved."""

    text: str
    offsets: Sequence[int] | None = None

    def place(self, index: int) -> int:
        return index if self.offsets is None else self.offsets[index]


def draw_line(line: str, *, is_whole: bool = False) -> DrawnLine:
    line = line if is_whole else line[:LONGEST_LINE]
    text = safe_text(line)
    if text == line and "\t" not in line:
        return DrawnLine(text)
    pieces: list[str] = []
    offsets = [0]
    column = 0
    for char in line:
        piece = " " * (TAB - column % TAB) if char == "\t" else safe_text(char)
        pieces.append(piece)
        offsets.append(offsets[-1] + len(piece))
        column += cell_len(piece)
    return DrawnLine("".join(pieces), offsets)


def colored_part(line: str) -> str:
    """Return the part of a line that is passed to a lexer."""
    return draw_line(line).text[:LONGEST_COLORED]


def cell_segments(
    cell: Cell, ground: LineStyles, marking: WhitespaceMarks, colors: CodeLine | None
) -> list[Segment]:
    """Draw a line, with a mark if it is cut off or ends unusually."""
    body = cell.body
    text = draw_line(body, is_whole=marking.is_whole)
    limit = len(body) if marking.is_whole else min(len(body), LONGEST_LINE)
    marks = _marks(cell, body[:limit], marking)
    if cell.emphasis or marks:
        segments = list(
            _grouped(text, _styles(cell, text, ground, colors, marks, limit), marks, body, marking)
        )
    else:
        segments = list(_plain(text.text, ground, colors))
    if limit < len(body):
        words = f"{marking.glyphs.more} {len(body) - limit} more characters"
        segments.append(Segment(words, ground.mark))
    if end_of(cell.line) == "\r\n" and (marking.all_blanks or (marking.line_ends and cell.is_changed)):
        segments.append(Segment(marking.glyphs.carriage_return, ground.mark))
    return segments


def _plain(text: str, ground: LineStyles, colors: CodeLine | None) -> Iterator[Segment]:
    at = 0
    for part in colors or ():
        style = ground.plain if part.style is None else ground.syntax[part.style]
        yield Segment(part.text, style)
        at += len(part.text)
    if at < len(text):
        yield Segment(text[at:], ground.plain)


def _marks(cell: Cell, body: str, marking: WhitespaceMarks) -> frozenset[int]:
    """Return the characters that are drawn as signs: all blanks, or changed ones and those at line ends."""
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
    text: DrawnLine,
    ground: LineStyles,
    colors: CodeLine | None,
    marks: frozenset[int],
    limit: int,
) -> list[Style]:
    """Return a style for each character that is drawn."""
    kinds: list[Style | None] = []
    for part in colors or ():
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
    text: DrawnLine, styles: Sequence[Style], marks: frozenset[int], body: str, marking: WhitespaceMarks
) -> Iterator[Segment]:
    chars = list(text.text)
    for index in marks:
        chars[text.place(index)] = marking.glyphs.tab if body[index] == "\t" else marking.glyphs.blank
    at = 0
    for style, run in groupby(styles):
        length = sum(1 for _ in run)
        yield Segment("".join(chars[at : at + length]), style)
        at += length
