"""A drawn screen as SVG that needs no font: lines and bars are shapes, and each word has a fixed place."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import groupby

from rich.cells import cell_len
from rich.color import Color
from rich.style import Style
from textual.strip import Strip

WIDTH, HEIGHT = 8.4, 17.0
SIZE = 14
MARGIN = 10.0
BASELINE = 13.3
INK, GROUND = "#e6e6e6", "#000000"
FONTS = "ui-monospace,'Cascadia Mono','DejaVu Sans Mono',Menlo,Consolas,monospace"
# Up, right, down, left: which halves of a cell a line crosses.
_LINES = {
    "│": "ud",
    "─": "lr",
    "╭": "rd",
    "╮": "ld",
    "╰": "ur",
    "╯": "ul",
    "┌": "rd",
    "┐": "ld",
    "└": "ur",
    "┘": "ul",
    "├": "urd",
    "┤": "uld",
    "┬": "lrd",
    "┴": "lru",
    "┼": "udlr",
}
_ENDS = {
    "u": f"v-{HEIGHT / 2:g}",
    "d": f"v{HEIGHT / 2:g}",
    "l": f"h-{WIDTH / 2:g}",
    "r": f"h{WIDTH / 2:g}",
}
# Left, top, width, height, as parts of a cell.
_BARS = {
    "█": (0.0, 0.0, 1.0, 1.0),
    "▌": (0.0, 0.0, 0.5, 1.0),
    "▐": (0.5, 0.0, 0.5, 1.0),
    "▀": (0.0, 0.0, 1.0, 0.5),
    "▄": (0.0, 0.5, 1.0, 0.5),
    "▎": (0.0, 0.0, 0.25, 1.0),
    "▊": (0.0, 0.0, 0.75, 1.0),
    "▁": (0.0, 0.875, 1.0, 0.125),
    "▔": (0.0, 0.0, 1.0, 0.125),
}
_SHADES = {"░": 0.3, "▒": 0.5, "▓": 0.75}


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    width: int
    kind: str
    ink: str
    ground: str
    looks: str


class _Picture:
    """Shapes gathered by colour, words by row."""

    def __init__(self, ground: str) -> None:
        self.ground = ground
        self.grounds: dict[str, list[str]] = defaultdict(list)
        self.bars: dict[tuple[str, float], list[str]] = defaultdict(list)
        self.lines: dict[str, list[str]] = defaultdict(list)
        self.rows: list[str] = []
        self.inks: dict[str, str] = {}

    def add(self, strip: Strip, y: int) -> None:
        cells, x = _cells(strip), 0
        for back, run in groupby(cells, key=lambda cell: cell.ground):
            wide = sum(cell.width for cell in run)
            if back != self.ground:
                self.grounds[back].append(_box(x, y, 0, 0, wide, 1))
            x += wide
        words = [self._word(*word) for word in self._words(cells, y)]
        if words:
            self.rows.append(f'<text y="{MARGIN + y * HEIGHT + BASELINE:g}">{"".join(words)}</text>')

    def _words(self, cells: list[_Cell], y: int) -> Iterator[tuple[str, int, str, str]]:
        """Text, column, ink and looks; what is drawn as a shape is drawn on the way."""
        x = 0
        for (kind, ink, looks), run in groupby(cells, key=lambda cell: (cell.kind, cell.ink, cell.looks)):
            taken = list(run)
            if kind == "word":
                yield "".join(cell.text for cell in taken), x, ink, looks
            for cell in taken:
                if kind == "shape":
                    self._shape(cell.text, x, y, ink)
                x += cell.width

    def _shape(self, text: str, x: int, y: int, ink: str) -> None:
        if text in _LINES:
            middle = f"{MARGIN + (x + 0.5) * WIDTH:g} {MARGIN + (y + 0.5) * HEIGHT:g}"
            self.lines[ink].append("".join(f"M{middle}{_ENDS[side]}" for side in _LINES[text]))
        elif text in _BARS:
            self.bars[ink, 1.0].append(_box(x, y, *_BARS[text]))
        else:
            self.bars[ink, _SHADES[text]].append(_box(x, y, 0, 0, 1, 1))

    def _word(self, text: str, x: int, ink: str, looks: str) -> str:
        name = self.inks.setdefault(ink, f"c{len(self.inks)}")
        place = f'x="{MARGIN + x * WIDTH:.6g}" textLength="{cell_len(text) * WIDTH:.6g}"'
        return f'<tspan {place} class="{name}{looks}">{escape(text, quote=False)}</tspan>'


def svg(strips: Iterable[Strip], ground: str = "") -> str:
    """`ground` colours the rim; the first cell's does where there is none."""
    rows = list(strips)
    ground = ground or next((_colour(s.style, is_ink=False) for s in rows[0] if s.style), GROUND)
    picture = _Picture(ground)
    for y, strip in enumerate(rows):
        picture.add(strip, y)
    width = max(strip.cell_length for strip in rows) * WIDTH + 2 * MARGIN
    size = f'viewBox="0 0 {width:g} {len(rows) * HEIGHT + 2 * MARGIN:g}" width="{width:g}"'
    inks = "".join(f".{name}{{fill:{ink}}}" for ink, name in picture.inks.items())
    looks = ".b{font-weight:700}.i{font-style:italic}.u{text-decoration:underline}"
    looks += ".s{text-decoration:line-through}.u.s{text-decoration:underline line-through}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
        f"<style>text{{font:{SIZE}px {FONTS};white-space:pre}}{looks}{inks}</style>",
        f'<rect width="100%" height="100%" rx="6" fill="{ground}"/>',
        *(f'<path fill="{ink}" d="{"".join(boxes)}"/>' for ink, boxes in picture.grounds.items()),
        *(
            f'<path fill="{ink}" opacity="{light:g}" d="{"".join(boxes)}"/>'
            for (ink, light), boxes in picture.bars.items()
        ),
        *(f'<path stroke="{ink}" fill="none" d="{"".join(d)}"/>' for ink, d in picture.lines.items()),
        *picture.rows,
        "</svg>\n",
    ]
    return "\n".join(parts)


def _cells(strip: Strip) -> list[_Cell]:
    """Character by character: the same picture however its row was put together."""
    found = []
    for segment in strip:
        style = segment.style or Style()
        marks = (("b", style.bold), ("i", style.italic), ("u", style.underline), ("s", style.strike))
        looks = "".join(f" {name}" for name, is_set in marks if is_set)
        ink, ground = _colour(style, is_ink=True), _colour(style, is_ink=False)
        for character in segment.text:
            is_shape = character in _LINES or character in _BARS or character in _SHADES
            kind = "shape" if is_shape else "blank" if character == " " else "word"
            found.append(_Cell(character, cell_len(character), kind, ink, ground, looks))
    return found


def _box(x: int, y: int, left: float, top: float, wide: float, high: float) -> str:
    # A hair more than the cell: viewers leave seams between shapes that only touch.
    across, down = wide * WIDTH + 0.1, high * HEIGHT + 0.1
    return (
        f"M{MARGIN + (x + left) * WIDTH:g} {MARGIN + (y + top) * HEIGHT:g}h{across:g}v{down:g}h-{across:g}z"
    )


def _colour(style: Style, *, is_ink: bool) -> str:
    ink, ground = _hex(style.color, INK), _hex(style.bgcolor, GROUND)
    if style.reverse:
        ink, ground = ground, ink
    return ink if is_ink else ground


def _hex(colour: Color | None, default: str) -> str:
    if colour is None or colour.is_default:
        return default
    return colour.get_truecolor().hex
