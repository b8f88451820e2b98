"""Styles for drawn lines, from the variables of the theme; a missing one falls back to a similar one."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from rich.color import Color as RichColor
from rich.style import Style
from textual.color import Color, ColorParseError

from coder_tui.ui.glyphs import UNICODE, Glyphs


class Syntax(StrEnum):
    """Kinds of code; the theme has a variable `syntax-…` for each."""

    KEYWORD = "keyword"
    STRING = "string"
    NUMBER = "number"
    COMMENT = "comment"
    FUNCTION = "function"
    TYPE = "type"


@dataclass(frozen=True, slots=True)
class Palette:
    """Each style is complete (color and background), so that drawing never combines styles."""

    base: Style
    dim: Style
    strong: Style
    user: Style
    heading: Style
    link: Style
    code: Style
    code_block: Style
    add: Style
    delete: Style
    add_sign: Style
    delete_sign: Style
    ok: Style
    failed: Style
    warning: Style
    running: Style
    syntax: Mapping[Syntax, Style]
    cursor: Style
    cursor_bar: Style
    hit: Style
    current_hit: Style
    glyphs: Glyphs = UNICODE
    answer_key: str = "F8"
    fold_key: str = "o"
    is_whole: bool = False
    """Whether very long lines are drawn in full: the user decides by what they see."""


class _Variables:
    """Looks up the first of several names that the theme defines as a color."""

    def __init__(self, variables: Mapping[str, str], background: Color) -> None:
        self._variables = variables
        self._background = background

    def color(self, *names: str, on: Color | None = None) -> Color | None:
        for name in names:
            try:
                color = Color.parse(self._variables.get(name, ""))
            except ColorParseError:  # missing, or a value such as `auto 87%`
                continue
            return color if color.ansi is not None else (on or self._background) + color
        return None

    def rich(self, *names: str) -> RichColor | None:
        color = self.color(*names)
        return None if color is None else color.rich_color


_SYNTAX_FALLBACK = {
    Syntax.KEYWORD: "text-accent",
    Syntax.STRING: "text-success",
    Syntax.NUMBER: "text-warning",
    Syntax.COMMENT: "foreground-muted",
    Syntax.FUNCTION: "text-primary",
    Syntax.TYPE: "text-secondary",
}


def build_palette(
    variables: Mapping[str, str], base: Style, background: Color, glyphs: Glyphs = UNICODE
) -> Palette:
    """Build the palette of a theme; `base` is the style of plain text on `background`."""
    look = _Variables(variables, background)
    bold = Style(bold=True)

    def ink(*names: str) -> Style:
        return base + Style(color=look.rich(*names))

    def on(ground: str, fallback: str, *names: str) -> Style:
        return base + Style(color=look.rich(*names), bgcolor=look.rich(ground, fallback))

    add = on("diff-add-bg", "success-muted", "diff-add-fg", "foreground")
    delete = on("diff-del-bg", "error-muted", "diff-del-fg", "foreground")
    return Palette(
        base=base,
        dim=ink("text-dim", "foreground-muted"),
        strong=base + bold,
        user=ink("text-primary", "primary") + bold,
        heading=ink("text-accent", "accent") + bold,
        link=ink("link", "text-primary", "primary") + Style(underline=True),
        code=on("code-bg", "surface", "code-fg", "text-accent"),
        code_block=base + Style(bgcolor=look.rich("code-bg", "surface")),
        add=add,
        delete=delete,
        add_sign=add + bold,
        delete_sign=delete + bold,
        ok=ink("text-success", "success"),
        failed=ink("text-error", "error"),
        warning=ink("text-warning", "warning"),
        running=ink("text-primary", "primary"),
        syntax=_syntax(look),
        cursor=Style(bgcolor=look.rich("panel", "surface")),
        # Reversed, so that it is visible without colors too.
        cursor_bar=ink("text-primary", "primary") + Style(reverse=True, bold=False),
        hit=ink("warning", "text-warning") + Style(bgcolor=look.rich("background"), reverse=True),
        current_hit=ink("text-primary", "primary")
        + Style(bgcolor=look.rich("background"), reverse=True, bold=True, underline=True),
        glyphs=glyphs,
    )


def _syntax(look: _Variables) -> Mapping[Syntax, Style]:
    return {
        kind: Style(
            color=look.rich(f"syntax-{kind}", fallback, "accent"),
            italic=True if kind is Syntax.COMMENT else None,
        )
        for kind, fallback in _SYNTAX_FALLBACK.items()
    }
