"""A unified diff: line numbers, signs that are always printed, colours that help."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from coder_tui.protocol.display import DiffBlock
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.ui.drawing.code import CodeLine, code_lines, code_pieces, language_of
from coder_tui.ui.drawing.palette import Palette
from coder_tui.ui.drawing.strips import clipped, filled, plain_strip

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)")
_GUTTER = 5
MOST_COLOURED = 400
"""Lines: beyond it a diff is drawn in plain ink, so that ten thousand lines appear at once."""


@dataclass(frozen=True, slots=True)
class _Line:
    sign: str
    number: int | None
    text: str


def draw_diff(block: DiffBlock, width: int, palette: Palette) -> list[Strip]:
    lines = list(_parse(block.diff))
    coloured = _coloured(lines, block.path, palette)
    rows: list[Strip] = []
    for index, line in enumerate(lines):
        rows += _draw(line, coloured.get(index), width, palette)
    return rows


def _parse(diff: str) -> Iterator[_Line]:
    """Lines with the number they have in the file; what no hunk explains is shown as it is."""
    old = new = 0
    is_inside = False
    # Line by line, because safe_text joins CR LF, and a change of line ends must be seen.
    for raw in diff.removesuffix("\n").split("\n"):
        if hunk := _HUNK.match(raw):
            old, new = int(hunk[1]), int(hunk[2])
            # Nothing is left out before a first hunk that begins with the file.
            if is_inside or max(old, new) > 1 or hunk[3]:
                yield _Line("@", None, safe_line(hunk[3]))
            is_inside = True
            continue
        sign, text = raw[:1], safe_text(raw[1:])
        if not is_inside:
            if raw and not raw.startswith(("--- ", "+++ ", "diff ", "index ")):
                yield _Line("\\", None, safe_text(raw))
        elif sign == "+":
            yield _Line("+", new, text)
            new += 1
        elif sign == "-":
            yield _Line("-", old, text)
            old += 1
        elif sign == "\\":
            yield _Line("\\", None, text.strip())
        else:
            yield _Line(" ", new, text)
            old, new = old + 1, new + 1


def _coloured(lines: list[_Line], path: str, palette: Palette) -> dict[int, CodeLine]:
    """Syntax colours by index; each side is one text, so that strings over several lines come out right."""
    if len(lines) > MOST_COLOURED or not (language := language_of(path)):
        return {}
    coloured: dict[int, CodeLine] = {}
    for signs in ("- ", "+ "):
        indexes = [i for i, line in enumerate(lines) if line.sign in signs]
        if indexes:
            code = "\n".join(lines[i].text for i in indexes)
            coloured.update(zip(indexes, code_lines(code, language, palette), strict=True))
    return coloured


def _draw(line: _Line, coloured: CodeLine | None, width: int, palette: Palette) -> Iterator[Strip]:
    if line.number is None:
        mark = palette.glyphs.more if line.sign == "@" else ""
        yield plain_strip(f"{mark:>{_GUTTER}} {line.text}".rstrip(), width, palette.dim)
        return
    ink, mark_ink = _inks(line.sign, palette)
    room = width - _GUTTER - 3
    plain = clipped(line.text, palette.glyphs.more, is_whole=palette.is_whole)
    code = coloured if coloured is not None else [Segment(plain)]
    gutter = f"{line.number:>{_GUTTER}} "
    sign = Segment(f"{line.sign} ", mark_ink)
    for piece in code_pieces(code, room, ink):
        yield filled([Segment(gutter, palette.dim), sign, *piece], width, ink)
        gutter = f"{palette.glyphs.wrapped:>{_GUTTER}} "


def _inks(sign: str, palette: Palette) -> tuple[Style, Style]:
    match sign:
        case "+":
            return palette.add, palette.add_sign
        case "-":
            return palette.delete, palette.delete_sign
        case _:
            return palette.base, palette.base
