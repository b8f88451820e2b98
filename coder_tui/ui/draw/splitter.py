"""Split a growing Markdown text into blocks, so that only the last one has to be drawn again.

The result depends on the text alone, not on the pieces in which it arrived.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum


class ChunkKind(StrEnum):
    NONE = "none"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    HEADING = "heading"
    FENCE = "fence"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class Chunk:
    """The source of one block; `continues` means that the block before it was split for its length."""

    kind: ChunkKind
    source: str
    continues: bool = False
    opening: str = ""
    """The first line of a continued fence, or the heading rows of a continued table."""


MOST_LINES = 60
MOST_ROWS = 100
LONGEST_PARAGRAPH = 4000
"""Longer blocks are split, so that drawing the open one again stays cheap whatever a model sends."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_ITEM = re.compile(r" {0,3}([-*+]|\d{1,9}[.)])(\s|$)")
_HEADING = re.compile(r" {0,3}#{1,6}(\s|$)")
_RULE = re.compile(r" {0,3}([-*_])\s*(\1\s*){2,}$")
_DELIMITER = re.compile(r" {0,3}\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
_DEFINITION = re.compile(r" {0,3}\[([^\[\]]+)\]:\s*<?(\S+?)>?(\s|$)")


@dataclass(slots=True)
class Splitter:
    """`feed` it text and use the finished chunks; `open_chunk` may still change."""

    definitions: dict[str, str] = field(default_factory=dict)
    """Link addresses by label; a definition may come after its use."""
    _lines: list[str] = field(default_factory=list)
    _partial: str = ""
    _kind: ChunkKind = ChunkKind.NONE
    _fence: str = ""
    _fence_opening: str = ""
    _is_indented: bool = False
    _opening: str = ""
    _continues: bool = False
    _size: int = 0

    def feed(self, text: str) -> Iterator[Chunk]:
        *whole, self._partial = (self._partial + text).split("\n")
        for line in whole:
            yield from self._overlong(line)
        if len(self._partial) > LONGEST_PARAGRAPH:
            *pieces, self._partial = _pieces(self._partial)
            for piece in pieces:
                yield from self._piece(piece)

    def finish(self) -> Iterator[Chunk]:
        """Return the rest, as if the last line had ended."""
        if self._partial:
            yield from self.feed("\n")
        yield from self._cut(ChunkKind.NONE)

    @property
    def open_chunk(self) -> Chunk:
        lines = [*self._lines, self._partial] if self._partial else self._lines
        kind = self._kind if self._kind is not ChunkKind.NONE else self._guess(self._partial)
        return Chunk(kind, "\n".join(lines), self._continues, self._opening)

    def _overlong(self, line: str) -> Iterator[Chunk]:
        *pieces, last = _pieces(line)
        for piece in pieces:
            yield from self._piece(piece)
        yield from self._line(last)

    def _piece(self, piece: str) -> Iterator[Chunk]:
        """Split a very long line at fixed places; what follows is the same paragraph."""
        yield from self._line(piece)
        if not self._fence:
            kind = self._kind if self._kind is ChunkKind.ITEM else ChunkKind.PARAGRAPH
            yield from self._cut(kind, continues=True)

    def _guess(self, line: str) -> ChunkKind:
        if _FENCE.match(line):
            return ChunkKind.FENCE
        if _HEADING.match(line):
            return ChunkKind.HEADING
        return ChunkKind.ITEM if _is_item(line) else ChunkKind.PARAGRAPH

    def _cut(self, kind: ChunkKind, *, continues: bool = False, opening: str = "") -> Iterator[Chunk]:
        if self._lines:
            yield Chunk(self._kind, "\n".join(self._lines), self._continues, self._opening)
        self._lines, self._kind, self._size = [], kind, 0
        self._continues, self._opening = continues, opening

    def _line(self, line: str) -> Iterator[Chunk]:
        if self._fence:
            yield from self._fence_line(line)
        elif not line.strip():
            yield from self._blank_line()
        else:
            yield from self._text_line(line)

    def _fence_line(self, line: str) -> Iterator[Chunk]:
        self._append(line)
        match = _FENCE.match(line.lstrip() if self._is_indented else line)
        if match and match[1].startswith(self._fence) and not match[2].strip():
            self._fence = ""
            if self._kind is ChunkKind.FENCE:
                yield from self._cut(ChunkKind.NONE)
        elif len(self._lines) > MOST_LINES:
            yield from self._cut(ChunkKind.FENCE, continues=True, opening=self._fence_opening)

    def _blank_line(self) -> Iterator[Chunk]:
        if self._kind is ChunkKind.ITEM and self._lines:
            self._append("")  # indented lines below still belong to the item
        else:
            yield from self._cut(ChunkKind.NONE)

    def _text_line(self, line: str) -> Iterator[Chunk]:
        if (definition := _DEFINITION.match(line)) and all(map(_DEFINITION.match, self._lines)):
            self.definitions.setdefault(definition[1], definition[2])
        yield from self._start(line)
        self._append(line)
        is_paragraph = self._kind is ChunkKind.PARAGRAPH
        if is_paragraph and self._is_table():
            self._kind = ChunkKind.TABLE
        elif self._kind is ChunkKind.HEADING or (is_paragraph and self._is_rule()):
            yield from self._cut(ChunkKind.NONE)
        elif self._kind is ChunkKind.TABLE and len(self._lines) > MOST_ROWS:
            opening = self._opening or "\n".join(self._lines[:2])
            yield from self._cut(ChunkKind.TABLE, continues=True, opening=opening)
        elif self._size > LONGEST_PARAGRAPH and self._kind is not ChunkKind.TABLE and not self._fence:
            yield from self._cut(self._kind, continues=True)

    def _start(self, line: str) -> Iterator[Chunk]:
        """Finish the block if `line` begins another one."""
        is_inside = self._kind is ChunkKind.ITEM and line.startswith(("  ", "\t"))
        fence = _FENCE.match(line.lstrip() if is_inside else line)
        if fence and not (fence[1][0] == "`" and "`" in fence[2]):
            if not is_inside:
                yield from self._cut(ChunkKind.FENCE)
            self._fence, self._fence_opening, self._is_indented = fence[1], line.strip(), is_inside
        elif is_inside:
            return
        elif _HEADING.match(line):
            yield from self._cut(ChunkKind.HEADING)
        elif _is_item(line):
            yield from self._cut(ChunkKind.ITEM)
        elif self._kind is ChunkKind.NONE or (self._kind is ChunkKind.ITEM and not self._last()):
            yield from self._cut(ChunkKind.PARAGRAPH)

    def _last(self) -> str:
        return self._lines[-1] if self._lines else "-"

    def _append(self, line: str) -> None:
        self._lines.append(line)
        self._size += len(line) + 1

    def _is_table(self) -> bool:
        return len(self._lines) == 2 and "|" in self._lines[0] and bool(_DELIMITER.match(self._lines[1]))

    def _is_rule(self) -> bool:
        return len(self._lines) == 1 and bool(_RULE.match(self._lines[0]))


def _pieces(line: str) -> list[str]:
    """Split a line into pieces of bounded length, at least one."""
    starts = range(0, max(1, len(line)), LONGEST_PARAGRAPH)
    return [line[start : start + LONGEST_PARAGRAPH] for start in starts]


def _is_item(line: str) -> bool:
    return bool(_ITEM.match(line)) and not _RULE.match(line)


def split(text: str) -> tuple[list[Chunk], dict[str, str]]:
    """Split a complete text into chunks and its link definitions."""
    splitter = Splitter()
    chunks = [*splitter.feed(text), *splitter.finish()]
    return chunks, splitter.definitions
