"""Draw Markdown as strips, block by block. A link shows its address next to its text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.ui.draw.code import code_strips, load_lexers
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.splitter import Chunk, ChunkKind, split
from coder_tui.ui.draw.strips import NARROWEST, filled, plain_strip, table_strips, to_strip, wrapped

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


_MARKS = {
    "strong_open": Style(bold=True),
    "em_open": Style(italic=True),
    "s_open": Style(strike=True),
}


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
        """Print the address too: a link's text may name another place than the one it opens."""
        if self._text.plain[start:] not in {address, address.removeprefix("mailto:")}:
            self._write(f" ({address})", self._palette.dim)

    def _write(self, text: str, style: Style) -> None:
        # Entities such as &#27; become characters only in the parser, after `safe_text` saw the source.
        self._text.append(safe_line(text), style)


_OPENING = re.compile(r"\s*(`{3,}|~{3,})\s*([^\s`{]*)")
_LIST_INDENT = 2
_MOST_BRACKETS = 200


@lru_cache(2)
def _parser(*, has_links: bool = True) -> "MarkdownIt":
    # Imported here because the first paint has no Markdown: it takes 30 ms.
    from markdown_it import MarkdownIt

    # Raw HTML is shown as text, not hidden.
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    return parser if has_links else parser.disable(["link", "image"])


def _references(definitions: Mapping[str, str]) -> dict[str, dict[str, str]]:
    from markdown_it.common.utils import normalizeReference

    return {normalizeReference(label): {"href": url, "title": ""} for label, url in definitions.items()}


def load() -> None:
    """Load the parser and the lexers, so that the first reply need not wait for them."""
    _parser()
    load_lexers()


def draw_markdown(text: str, width: int, palette: Palette) -> list[Strip]:
    """Draw a complete text, which is safe already."""
    chunks, definitions = split(text)
    return draw_chunks(chunks, None, width, palette, definitions)


def code_blocks(text: str) -> list[str]:
    """Return the code blocks of a text, without their fences."""
    tokens = _parser().parse(text)
    # Without the last newline: a shell would run pasted code at once.
    return [token.content.removesuffix("\n") for token in tokens if token.type in {"fence", "code_block"}]


def draw_chunks(
    chunks: Sequence[Chunk],
    before: Chunk | None,
    width: int,
    palette: Palette,
    definitions: Mapping[str, str],
) -> list[Strip]:
    """Draw some chunks of a text; `before` is the chunk above them."""
    rows: list[Strip] = []
    for chunk in chunks:
        before = append_chunk(rows, before, chunk, draw_chunk(chunk, width, palette, definitions), palette)
    return rows


def append_chunk(
    rows: list[Strip], before: Chunk | None, chunk: Chunk, drawn: Sequence[Strip], palette: Palette
) -> Chunk | None:
    """Append a drawn chunk, with a blank row above if it needs one, and return the last visible chunk."""
    if not drawn:
        return before
    is_list = before is not None and before.kind is chunk.kind is ChunkKind.ITEM
    if before is not None and not chunk.continues and not is_list:
        rows.append(plain_strip("", drawn[0].cell_length, palette.base))
    rows.extend(drawn)
    return chunk


def draw_chunk(chunk: Chunk, width: int, palette: Palette, definitions: Mapping[str, str]) -> list[Strip]:
    if chunk.kind is ChunkKind.FENCE:
        language, lines = fence_parts(chunk)
        return code_strips("\n".join(lines), language, width, palette)
    source = f"{chunk.opening}\n{chunk.source}" if chunk.opening else chunk.source
    # Finding the ends of many brackets takes quadratic time.
    parser = _parser(has_links=source.count("[") <= _MOST_BRACKETS)
    tokens = parser.parse(source, {"references": _references(definitions)})
    rows = _Page(width, palette, has_heading=not chunk.continues).draw(tokens)
    is_empty = not rows and not (definitions and not tokens)  # such as a heading without text
    return [plain_strip("", width, palette.base)] if is_empty else rows


def fence_parts(chunk: Chunk) -> tuple[str, list[str]]:
    """Return the language and the lines of a fence, even if it is not closed yet."""
    lines = chunk.source.split("\n")
    match = _OPENING.match(chunk.opening or lines[0])
    mark, language = (match[1], match[2]) if match else ("", "")
    if not chunk.continues:
        lines = lines[1:]
    if mark and lines and lines[-1].strip().startswith(mark) and not lines[-1].strip(f"{mark[0]} "):
        lines = lines[:-1]
    return language, lines


class _Page:
    """Walks the parser's tokens and puts a stack of prefixes before each row (list indents, quote bars)."""

    def __init__(self, width: int, palette: Palette, *, has_heading: bool) -> None:
        self._width = width
        self._palette = palette
        self._has_heading = has_heading
        self._rows: list[Strip] = []
        self._prefixes: list[str] = []
        self._marker = ""
        self._counters: list[int | None] = []
        self._style = palette.base
        self._table: list[list[Text]] = []
        self._sides: list[str] = []
        self._is_tight = True
        """Whether the next block is the first of its container and needs no blank row above."""

    def draw(self, tokens: Sequence["Token"]) -> list[Strip]:
        for token in tokens:
            self._visit(token)
        return self._rows

    def _visit(self, token: "Token") -> None:
        """Handle containers and changes of style; everything else is a leaf."""
        match token.type:
            case "bullet_list_open":
                self._counters.append(None)
                self._is_tight = True
            case "ordered_list_open":
                start = token.attrGet("start")
                self._counters.append(1 if start is None else int(start))
                self._is_tight = True
            case "ordered_list_close" | "bullet_list_close":
                self._counters.pop()
            case "list_item_open":
                self._open_item()
            case "blockquote_open":
                if self._rows and not self._is_tight:  # the blank row is not part of the quote
                    self._rows.append(self._prefixed(plain_strip("", self._room, self._palette.base)))
                self._prefixes.append(f"{self._palette.glyphs.quote} ")
                self._is_tight = True
            case "list_item_close" | "blockquote_close":
                if self._marker:  # an item without text still has its mark
                    self._block([plain_strip("", self._room, self._palette.base)])
                self._prefixes.pop()
            case "heading_open":
                self._style = self._heading(token.tag)
            case "paragraph_open" | "paragraph_close" if token.hidden:
                self._is_tight = True
            case _:
                self._visit_leaf(token)

    def _heading(self, tag: str) -> Style:
        """Return one of three styles that differ by more than a shade."""
        match tag:
            case "h1":
                return self._palette.heading + Style(underline=True)
            case "h2":
                return self._palette.heading
            case _:
                return self._palette.strong

    def _visit_leaf(self, token: "Token") -> None:
        match token.type:
            case "tr_open":
                self._table.append([])
            case "th_open":
                self._sides.append(str(token.attrGet("style") or "").rpartition(":")[2])
            case "table_close":
                self._close_table()
            case "inline":
                self._inline(token)
            case "fence" | "code_block":
                self._block(list(self._code(token)))
            case "hr":
                rule = Text(self._palette.glyphs.rule * self._room, self._palette.dim)
                self._block([to_strip(rule, self._room, self._palette.base)])
            case _:
                pass  # closing and wrapping tokens draw nothing

    @property
    def _room(self) -> int:
        return max(NARROWEST, self._width - sum(map(len, self._prefixes)))

    def _open_item(self) -> None:
        number = self._counters[-1]
        if number is None:
            mark = f"{self._palette.glyphs.bullet} "
        else:
            mark = f"{number}. "
            self._counters[-1] = number + 1
        if len(self._counters) == 1:
            mark = mark.rjust(len(mark) + _LIST_INDENT)
        self._prefixes.append(" " * len(mark))
        self._marker = mark
        self._is_tight = True

    def _inline(self, token: "Token") -> None:
        text = _Inline(self._style, self._palette).build(token.children or [])
        self._style = self._palette.base
        if self._table:
            self._table[-1].append(text)
            return
        rows = [to_strip(line, self._room, self._palette.base) for line in wrapped(text, self._room)]
        if text.plain:
            self._block(rows)

    def _code(self, token: "Token") -> Iterator[Strip]:
        language = token.info.strip().split(" ")[0]
        yield from code_strips(safe_text(token.content).rstrip("\n"), language, self._room, self._palette)

    def _close_table(self) -> None:
        heading, *rows = self._table
        sides = tuple(self._sides)
        self._table, self._sides = [], []
        for cell in heading:
            cell.stylize(self._palette.strong)
        shown = heading if self._has_heading else []
        self._block(table_strips(shown, rows, self._room, self._palette, sides))

    def _block(self, rows: list[Strip]) -> None:
        if self._rows and not self._is_tight:
            self._rows.append(self._prefixed(plain_strip("", self._room, self._palette.base)))
        self._rows += [self._prefixed(row) for row in rows]
        self._is_tight = False

    def _prefixed(self, row: Strip) -> Strip:
        if not self._prefixes:
            return row
        prefix = "".join(self._prefixes)
        if self._marker:
            prefix = prefix[: -len(self._marker)] + self._marker
            self._marker = ""
        return filled([Segment(prefix, self._palette.dim), *row], self._width, self._palette.base)
