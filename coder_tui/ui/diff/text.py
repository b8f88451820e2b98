"""One line of a diff as segments: safe, tabs made blanks, changed words and white space made visible.

The styles of a diff, derived from the palette: readable on every ground, changed words stronger.
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

from coder_tui.diffs.model import end_of
from coder_tui.diffs.rows import Cell
from coder_tui.diffs.words import Span
from coder_tui.text.safe_text import safe_text
from coder_tui.ui.draw.code import LONGEST_COLOURED, CodeLine
from coder_tui.ui.draw.glyphs import Glyphs
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.strips import LONGEST_LINE, TAB

READABLE = 4.5
VISIBLE = 3.0
_FADES = (0.0, 0.25, 0.5, 0.75)
"""How far a colour may go to the ground's own ink until it can be read."""
_STRENGTHS = (0.3, 0.26, 0.22, 0.18, 0.14, 0.1)
"""How far a changed word's ground goes from the line's ground to its ink; the first that can be read."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What stands on one kind of line; `syntax` and `word_syntax` are by the palette's own styles."""

    plain: Style
    word: Style
    sign: Style
    mark: Style
    syntax: Mapping[Style, Style]
    word_syntax: Mapping[Style, Style]


@dataclass(frozen=True, slots=True)
class DiffInks:
    same: Ground
    added: Ground
    deleted: Ground
    dim: Style
    filler: Style


def diff_inks(palette: Palette) -> DiffInks:
    kinds = tuple(palette.syntax.values())
    return DiffInks(
        same=_ground(palette.base, palette.base, palette.dim, kinds),
        added=_ground(palette.add, palette.add_sign, palette.dim, kinds),
        deleted=_ground(palette.delete, palette.delete_sign, palette.dim, kinds),
        dim=palette.dim,
        filler=_faded(palette.dim),
    )


@lru_cache(32)
def _ground(plain: Style, sign: Style, dim: Style, kinds: tuple[Style, ...]) -> Ground:
    word = _word(plain)
    return Ground(
        plain=plain,
        word=word,
        sign=sign,
        mark=_readable(plain, Style(color=dim.color)),
        syntax={kind: _readable(plain, kind) for kind in kinds},
        word_syntax={kind: _readable(word, kind) for kind in kinds},
    )


def _word(plain: Style) -> Style:
    """Bold too, so that a screen without colours shows it."""
    ink, ground = rgb(plain.color), rgb(plain.bgcolor)
    if ink is None or ground is None:
        return plain + Style(bold=True, underline=True)
    for strength in _STRENGTHS:
        stronger = blend_rgb(ground, ink, strength)
        if contrast(ink, stronger) >= READABLE:
            return plain + Style(bgcolor=Color.from_triplet(stronger), bold=True)
    return plain + Style(bold=True, underline=True)


def _readable(ground: Style, ink: Style) -> Style:
    """The ink on a ground, as near to itself as can be read there."""
    color, own, back = rgb(ink.color), rgb(ground.color), rgb(ground.bgcolor)
    if color is None or own is None or back is None:
        return ground + ink if _is_readable(ink.color, ground.bgcolor) else ground + Style(italic=ink.italic)
    for fade in _FADES:
        nearer = blend_rgb(color, own, fade)
        if contrast(nearer, back) >= READABLE:
            return ground + ink + Style(color=Color.from_triplet(nearer))
    return ground + Style(italic=ink.italic)


def _is_readable(ink: Color | None, ground: Color | None) -> bool:
    """Of colours that the terminal knows by number: as most terminals show them."""
    if ink is None or ground is None or ink.is_default or ground.is_default:
        return True
    return contrast(ink.get_truecolor(), ground.get_truecolor()) >= READABLE


def _faded(ink: Style) -> Style:
    """As near to the ground as a sign may be and still be seen."""
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
