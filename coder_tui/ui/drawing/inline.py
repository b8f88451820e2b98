"""Inline Markdown as rich text: emphasis, code, and links that show where they lead."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text

from coder_tui.text.safe_text import safe_line
from coder_tui.ui.drawing.palette import Palette

if TYPE_CHECKING:
    from markdown_it.token import Token

_MARKS = {
    "strong_open": Style(bold=True),
    "em_open": Style(italic=True),
    "s_open": Style(strike=True),
}


def inline_text(tokens: Sequence["Token"], style: Style, palette: Palette) -> Text:
    return _Inline(style, palette).build(tokens)


class _Inline:
    def __init__(self, style: Style, palette: Palette) -> None:
        self._palette = palette
        self._styles = [style]
        self._text = Text(end="")
        self._links: list[tuple[str, int]] = []

    def build(self, tokens: Sequence["Token"]) -> Text:
        for token in tokens:
            self._add(token)
        return self._text

    def _add(self, token: "Token") -> None:
        match token.type:
            case "code_inline":
                self._write(token.content, self._palette.code)
            case "softbreak":
                self._text.append(" ", self._styles[-1])
            case "hardbreak":
                self._text.append("\n", self._styles[-1])
            case "link_open":
                self._styles.append(self._styles[-1] + self._palette.link)
                self._links.append((str(token.attrGet("href") or ""), len(self._text)))
            case "link_close":
                self._styles.pop()
                self._show_address(*self._links.pop())
            case "image":
                self._write(f"[image: {token.content}] ", self._styles[-1])
                self._write(f"({token.attrGet('src') or ''})", self._palette.dim)
            case kind if kind.endswith("_open"):
                self._styles.append(self._styles[-1] + _MARKS.get(kind, Style()))
            case kind if kind.endswith("_close"):
                self._styles.pop()
            case _:
                self._write(token.content, self._styles[-1])

    def _show_address(self, address: str, start: int) -> None:
        """A link's words may name another place than it leads to, so the address is printed too."""
        if self._text.plain[start:] not in {address, address.removeprefix("mailto:")}:
            self._write(f" ({address})", self._palette.dim)

    def _write(self, text: str, style: Style) -> None:
        # Entities such as &#27; become characters only in the parser, behind the gate of the source.
        self._text.append(safe_line(text), style)
