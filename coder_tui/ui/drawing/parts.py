"""A long text as several parts, so that only those near the view are ever drawn."""

from collections.abc import Iterable
from dataclasses import dataclass

from coder_tui.ui.drawing.splitter import Chunk, ChunkKind

LINES_A_PART = 80


@dataclass(frozen=True, slots=True)
class Part:
    """Consecutive chunks of one text; `before` is the chunk above, which decides about a blank row."""

    chunks: tuple[Chunk, ...]
    before: Chunk | None


def rows_of(text: str, width: int = 80) -> int:
    """Rows that a text takes, roughly: newlines are counted, long lines guessed."""
    return text.count("\n") + 1 + len(text) // (2 * max(1, width))


def text_of(chunks: Iterable[Chunk]) -> str:
    """The text that was cut into chunks, with one blank line where there were any."""
    pieces: list[str] = []
    before: Chunk | None = None
    for chunk in chunks:
        is_list = before is not None and before.kind is chunk.kind is ChunkKind.ITEM
        gap = "\n" if chunk.continues or is_list else "\n\n"
        pieces += [gap if pieces else "", chunk.source.rstrip("\n")]
        before = chunk
    return "".join(pieces)


def parts_of(chunks: Iterable[Chunk]) -> list[Part]:
    """Groups by the text alone: a streamed text falls into the same parts as a stored one."""
    parts: list[Part] = []
    group: list[Chunk] = []
    lines = 0
    before: Chunk | None = None
    for chunk in chunks:
        if group and lines >= LINES_A_PART:
            parts.append(Part(tuple(group), before))
            group, lines, before = [], 0, group[-1]
        group.append(chunk)
        lines += rows_of(chunk.source)
    if group:
        parts.append(Part(tuple(group), before))
    return parts
