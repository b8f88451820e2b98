"""Color code by its syntax."""

from collections.abc import Iterable
from functools import lru_cache
from importlib import import_module
from itertools import accumulate
from typing import Protocol

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from coder_tui.ui.draw.palette import Palette, Syntax
from coder_tui.ui.draw.strips import TAB, chopped, filled

LONGEST_COLORED = 400
"""Characters of a line; a lexer can take very long on a minified one."""

INDENT = 2

CodeLine = list[Segment]
"""One line; a segment without a style has the plain color."""

_KINDS = (
    ("Keyword", Syntax.KEYWORD),
    ("Operator.Word", Syntax.KEYWORD),
    ("Name.Function", Syntax.FUNCTION),
    ("Name.Decorator", Syntax.FUNCTION),
    ("Name.Class", Syntax.TYPE),
    ("Name.Builtin", Syntax.TYPE),
    ("Name.Tag", Syntax.KEYWORD),
    ("Name.Attribute", Syntax.FUNCTION),
    ("Literal.String", Syntax.STRING),
    ("Literal.Number", Syntax.NUMBER),
    ("Comment", Syntax.COMMENT),
)


class _Lexer(Protocol):
    def get_tokens(self, text: str) -> Iterable[tuple[object, str]]: ...


@lru_cache(64)
def _lexer(language: str) -> _Lexer | None:
    if not language:
        return None
    # Imported late because the first paint has no code: it takes 20 ms.
    if language not in _names():
        return None
    lexer: _Lexer = import_module("pygments.lexers").get_lexer_by_name(
        language, stripnl=False, ensurenl=False
    )
    return lexer


@lru_cache(1)
def _names() -> frozenset[str]:
    lexers = import_module("pygments.lexers").get_all_lexers(plugins=False)
    return frozenset(alias for _, aliases, _, _ in lexers for alias in aliases)


@lru_cache(1024)
def _kind(token_name: str) -> Syntax | None:
    return next((kind for prefix, kind in _KINDS if token_name.startswith(prefix)), None)


@lru_cache(256)
def language_of(path: str) -> str:
    """Return the name of the lexer for a file, empty if none is known."""
    found = import_module("pygments.lexers").find_lexer_class_for_filename(path.rsplit("/", 1)[-1])
    return str(found.aliases[0]) if found and found.aliases else ""


def load_lexers() -> None:
    _lexer("python")


def code_lines(code: str, language: str, palette: Palette) -> list[CodeLine]:
    """Color the lines of code, which is safe text already."""
    lines = code.expandtabs(TAB).split("\n")
    plain = [[Segment(line)] if line else [] for line in lines]
    lexer = _lexer(language.lower()) if max(map(len, lines)) <= LONGEST_COLORED else None
    if lexer is None:
        return plain
    colored: list[CodeLine] = [[]]
    for token, value in lexer.get_tokens("\n".join(lines)):
        kind = _kind(str(token)[6:])
        style = None if kind is None else palette.syntax[kind]
        for number, piece in enumerate(value.split("\n")):
            if number:
                colored.append([])
            if piece:
                colored[-1].append(Segment(piece, style))
    # A lexer may drop or add a newline, and one row more or less would shift everything below.
    is_whole = ["".join(part.text for part in line) for line in colored] == lines
    return colored if is_whole else plain


def code_strips(code: str, language: str, width: int, palette: Palette) -> list[Strip]:
    """Draw code on its own background, indented; long lines wrap with a mark."""
    room = width - INDENT - 1
    margin = Segment(" " * INDENT, palette.base)
    space = Segment(" ", palette.code_block)
    mark = Segment(palette.glyphs.wrapped, palette.dim)
    strips = []
    for line in code_lines(code, language, palette):
        lead = space
        for piece in code_pieces(line, room, palette.code_block):
            strips.append(filled([margin, lead, *piece], width, palette.code_block))
            lead = mark
    return strips


def code_pieces(line: CodeLine, room: int, ground: Style) -> list[CodeLine]:
    """Wrap a line at a width, on a background."""
    inked = [Segment(part.text, ground + part.style if part.style else ground) for part in line]
    text = "".join(part.text for part in line)
    pieces = chopped(text, room)
    if len(pieces) <= 1:
        return [inked]
    ends = list(accumulate(map(cell_len, pieces)))
    return [list(piece) for piece in Strip(inked).divide(ends)]
