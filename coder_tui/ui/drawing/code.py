"""Syntax colours."""

from collections.abc import Iterable
from functools import lru_cache
from importlib import import_module
from typing import Protocol

from rich.text import Text
from textual.strip import Strip

from coder_tui.ui.drawing.palette import Palette, Syntax
from coder_tui.ui.drawing.strips import TAB, chopped, plain_strip, to_strip

LONGEST_COLOURED = 400
"""Characters: lexers can take very long on a minified line."""

INDENT = 2

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
    # Imported late because the first paint has no code: 20 ms of start-up.
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
    """The lexer's name for a file, empty where none is known."""
    found = import_module("pygments.lexers").find_lexer_class_for_filename(path.rsplit("/", 1)[-1])
    return str(found.aliases[0]) if found and found.aliases else ""


def load_lexers() -> None:
    _lexer("python")


def code_lines(code: str, language: str, palette: Palette) -> list[Text]:
    """Coloured lines of already safe code; as many as it has."""
    lines = code.expandtabs(TAB).split("\n")
    lexer = _lexer(language.lower()) if max(map(len, lines)) <= LONGEST_COLOURED else None
    if lexer is None:
        return [Text(line, no_wrap=True, end="") for line in lines]
    text = Text(no_wrap=True, end="")
    for token, value in lexer.get_tokens("\n".join(lines)):
        kind = _kind(str(token)[6:])
        text.append(value, None if kind is None else palette.syntax[kind])
    coloured = list(text.split("\n", allow_blank=True))
    # A lexer may swallow or add an end of line; a row more or less would shift everything below.
    if [line.plain for line in coloured] != lines:
        return [Text(line, no_wrap=True, end="") for line in lines]
    return coloured


def code_strips(code: str, language: str, width: int, palette: Palette) -> list[Strip]:
    """Code on its own ground, set in a little; long lines go on below, marked."""
    return [strip for line in code_lines(code, language, palette) for strip in _folded(line, width, palette)]


def _folded(line: Text, width: int, palette: Palette) -> list[Strip]:
    ground, room = palette.code_block, width - INDENT - 1
    margin = plain_strip("", INDENT, palette.base)
    strips = []
    for number, piece in enumerate(_pieces(line, room)):
        lead = Text(palette.glyphs.wrapped, palette.dim) if number else Text(" ")
        strips.append(Strip.join([margin, to_strip(lead + piece, room + 1, ground)]))
    return strips


def _pieces(line: Text, room: int) -> list[Text]:
    if line.cell_len <= room:
        return [line]
    ends, position = [], 0
    for piece in chopped(line.plain, room)[:-1]:
        position += len(piece)
        ends.append(position)
    return list(line.divide(ends))
