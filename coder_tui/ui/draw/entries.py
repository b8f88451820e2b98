"""Entries of the transcript other than tool calls. Each entry can draw itself at any width."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.ui.draw.markdown import draw_chunks, draw_markdown
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.splitter import split
from coder_tui.ui.draw.streamed import Part, parts_of, rows_of, text_of
from coder_tui.ui.draw.strips import cut_text, plain_rows, plain_strip, prefix_rows, to_strip, wrapped
from coder_tui.ui.glyphs import ThinkingLevel

GUTTER = 2
MOST_ROWS_OF_A_PASTE = 30
LONG_PROSE = 20_000
SHORT_TEXT = 4000
"""Characters: a longer reply is stored in parts, so that only those near the view are drawn."""


@dataclass(frozen=True, slots=True)
class View:
    """How much to show; `is_open` is None if the user neither expanded nor collapsed the entry."""

    thinking: ThinkingLevel = ThinkingLevel.SUMMARY
    is_open: bool | None = None


class Entry(ABC):
    """An entry's texts are safe already, except display blocks, whose renderers make them safe."""

    __slots__ = ()

    @property
    def has_gap(self) -> bool:
        """Whether a blank row comes above."""
        return True

    @property
    @abstractmethod
    def source(self) -> str:
        """The text that is copied."""

    def is_open(self, view: View) -> bool:
        """Return whether the entry shows everything it has."""
        return True

    def estimate(self, width: int, view: View) -> int:
        """Estimate the number of rows without drawing them."""
        return rows_of(self.source, width - GUTTER)

    @abstractmethod
    def draw(self, width: int, palette: Palette, view: View) -> list[Strip]: ...


class TextEntry(Entry):
    """An entry that has one text."""

    __slots__ = ()
    text: str

    @property
    def source(self) -> str:
        return self.text


def text_rows(text: str, width: int, style: Style, palette: Palette) -> list[Strip]:
    """Wrap text at words, or anywhere if it is huge, which is many times faster."""
    lines = text.split("\n")
    if len(text) > LONG_PROSE:
        return list(plain_rows(lines, width, style, palette.glyphs.more))
    return [to_strip(row, width, palette.base) for line in lines for row in wrapped(Text(line, style), width)]


def more_row(hidden: int, width: int, palette: Palette) -> Strip:
    words = f"{palette.glyphs.more} {hidden} more lines, {palette.fold_key} to expand"
    return plain_strip(words, width, palette.dim)


def marked(mark: str, rows: Iterable[Strip], style: Style, palette: Palette) -> list[Strip]:
    """Put a mark before the first row and indent the others by its width."""
    first, *rest = rows
    blank = plain_strip("", len(mark), palette.base)
    return [*prefix_rows(plain_strip(mark, len(mark), style), [first]), *prefix_rows(blank, rest)]


@dataclass(frozen=True, slots=True)
class UserEntry(TextEntry):
    text: str
    message_id: str = ""

    def is_open(self, view: View) -> bool:
        return bool(view.is_open)

    def estimate(self, width: int, view: View) -> int:
        rows = rows_of(self.text, width - 6)
        return rows if self.is_open(view) else min(rows, MOST_ROWS_OF_A_PASTE + 1)

    def draw(self, width: int, palette: Palette, view: View) -> list[Strip]:
        first, rest = f"{palette.glyphs.user}you  ", f"{palette.glyphs.user}     "
        rows = self._rows(width - len(first), palette, view)
        head = prefix_rows(plain_strip(first, len(first), palette.user), rows[:1])
        return [*head, *prefix_rows(plain_strip(rest, len(rest), palette.user), rows[1:])]

    def _rows(self, room: int, palette: Palette, view: View) -> list[Strip]:
        """Draw all of it, or only the first rows of a long paste."""
        if self.is_open(view):
            return text_rows(self.text, room, palette.strong, palette)
        lines = self.text.split("\n", MOST_ROWS_OF_A_PASTE)
        shown = "\n".join(lines[:MOST_ROWS_OF_A_PASTE])[: MOST_ROWS_OF_A_PASTE * room]
        rows = text_rows(shown, room, palette.strong, palette)
        rest = self.text[len(shown) :]
        hidden = rest.count("\n") or len(rest) // room + 1
        return [*rows, more_row(hidden, room, palette)] if rest else rows


@dataclass(frozen=True, slots=True)
class ReplyEntry(Entry):
    """A reply of the model, or one part of a long one."""

    text: str = ""
    part: Part | None = None
    definitions: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_gap(self) -> bool:
        return self.part is None or self.part.before is None

    @property
    def source(self) -> str:
        return self.text if self.part is None else text_of(self.part.chunks)

    def draw(self, width: int, palette: Palette, view: View) -> list[Strip]:
        room = width - GUTTER
        if self.part is None:
            return self.framed(draw_markdown(self.text, room, palette), palette)
        chunks, before = self.part.chunks, self.part.before
        return self.framed(draw_chunks(chunks, before, room, palette, self.definitions), palette)

    def framed(self, rows: list[Strip], palette: Palette) -> list[Strip]:
        mark = f"{palette.glyphs.reply} " if self.has_gap else " " * GUTTER
        return marked(mark, rows, palette.running, palette) if rows else []


def reply_entries(text: str) -> list[ReplyEntry]:
    """Split a stored reply into entries of bounded height."""
    if len(text) <= SHORT_TEXT:
        return [ReplyEntry(text)]
    chunks, definitions = split(text)
    return [ReplyEntry(part=part, definitions=definitions) for part in parts_of(chunks)]


@dataclass(frozen=True, slots=True)
class ThinkingEntry(TextEntry):
    text: str

    def is_open(self, view: View) -> bool:
        is_full = view.thinking is ThinkingLevel.FULL
        return is_full if view.is_open is None else view.is_open

    def estimate(self, width: int, view: View) -> int:
        if view.thinking is ThinkingLevel.HIDDEN:
            return 0
        return rows_of(self.text, width - GUTTER) if self.is_open(view) else 1

    def draw(self, width: int, palette: Palette, view: View) -> list[Strip]:
        if view.thinking is ThinkingLevel.HIDDEN:
            return []
        return draw_thinking(self.text, width, palette, is_open=self.is_open(view), word="thought")


def draw_thinking(text: str, width: int, palette: Palette, *, is_open: bool, word: str) -> list[Strip]:
    style = palette.dim + Style(italic=True)
    room = width - GUTTER
    mark = f"{palette.glyphs.thinking} "
    if not is_open:
        line = Text(f"{word}  {' '.join(text[:500].split())}", style, no_wrap=True, end="")
        cut_text(line, room, palette.glyphs.more)
        return marked(mark, [to_strip(line, room, palette.base)], palette.dim, palette)
    return marked(mark, text_rows(text.strip(), room, style, palette), palette.dim, palette)


@dataclass(frozen=True, slots=True)
class NoteEntry(TextEntry):
    """A notice from the program itself: a retry, a warning, an error."""

    level: NoticeLevel
    text: str

    def draw(self, width: int, palette: Palette, view: View) -> list[Strip]:
        glyph, style = self._glyph_and_style(palette)
        rows = text_rows(self.text, width - GUTTER, style, palette)
        return marked(f"{glyph} ", rows, style, palette)

    def _glyph_and_style(self, palette: Palette) -> tuple[str, Style]:
        match self.level:
            case NoticeLevel.INFO:
                return palette.glyphs.info, palette.dim
            case NoticeLevel.WARNING:
                return palette.glyphs.warning, palette.warning
            case NoticeLevel.ERROR:
                return palette.glyphs.failed, palette.failed
            case _:
                assert_never(self.level)
