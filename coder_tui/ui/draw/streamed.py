"""Draw Markdown while it streams: finished blocks once, only the open one again.

A long text is split into parts, so that only those near the view are drawn.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from textual.strip import Strip

from coder_tui.ui.draw.code import code_strips
from coder_tui.ui.draw.markdown import append_chunk, draw_chunk, fence_parts
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.splitter import Chunk, ChunkKind, Splitter

LINES_A_PART = 80


@dataclass(frozen=True, slots=True)
class Part:
    """Consecutive chunks of one text; the chunk above (`before`) decides on a blank row between."""

    chunks: tuple[Chunk, ...]
    before: Chunk | None


def rows_of(text: str, width: int = 80) -> int:
    """Estimate the rows of a text: newlines are counted, wrapped lines are guessed."""
    return text.count("\n") + 1 + len(text) // (2 * max(1, width))


def text_of(chunks: Iterable[Chunk]) -> str:
    """Join chunks to a text again, with one blank line between blocks."""
    pieces: list[str] = []
    before: Chunk | None = None
    for chunk in chunks:
        is_list = before is not None and before.kind is chunk.kind is ChunkKind.ITEM
        gap = "\n" if chunk.continues or is_list else "\n\n"
        pieces += [gap if pieces else "", chunk.source.rstrip("\n")]
        before = chunk
    return "".join(pieces)


def parts_of(chunks: Iterable[Chunk]) -> list[Part]:
    """Group chunks by their text alone: a streamed text has the same parts as a stored one."""
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


LINES_A_FRAME = 80
"""Source lines drawn in one go: a flood is spread over frames, so that keys are handled."""


class StreamedMarkdown:
    """Takes safe text by `feed`; `draw` updates `rows`. The end is as if the text was drawn at once."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self.rows: list[Strip] = []
        self.frozen = 0
        """The number of rows that will not change anymore."""
        self._splitter = Splitter()
        self._ready: list[Chunk] = []
        self._done: list[Chunk] = []
        self._ends: list[int] = []
        self._before: Chunk | None = None
        self._open_code: list[Strip] = []
        self._open_lines = 0
        self._look: tuple[int, Palette] | None = None

    @property
    def definitions(self) -> Mapping[str, str]:
        return self._splitter.definitions

    @property
    def has_backlog(self) -> bool:
        return bool(self._ready)

    @property
    def source(self) -> str:
        # Joined when asked for: adding each token to a long string would copy it each time.
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    @property
    def has_text(self) -> bool:
        return any(self._pieces)

    def feed(self, text: str) -> None:
        self._pieces.append(text)
        self._ready.extend(self._splitter.feed(text))

    def draw(self, width: int, palette: Palette) -> None:
        """Update `rows`, or only a part of them if much text has arrived at once."""
        if self._look != (width, palette):
            self._restart(width, palette)
        del self.rows[self.frozen :]
        for chunk in self._next_chunks():
            drawn = draw_chunk(chunk, width, palette, self.definitions)
            self._before = append_chunk(self.rows, self._before, chunk, drawn, palette)
            self._done.append(chunk)
            self._ends.append(len(self.rows))
            self._open_code, self._open_lines = [], 0
        self.frozen = len(self.rows)
        chunk = self._splitter.open_chunk
        if not self._ready and chunk.source.strip():
            append_chunk(self.rows, self._before, chunk, self._draw_open(chunk, width, palette), palette)

    def finish(self) -> list[tuple[Part, list[Strip] | None]]:
        """Return the finished text in parts, each with its rows if they are drawn and final."""
        self._ready.extend(self._splitter.finish())
        if self._look is not None and len(self._ready) <= 1:
            self.draw(*self._look)
        # A link may have been drawn before its address was known.
        drawn = 0 if self.definitions else len(self._done)
        parts = parts_of([*self._done, *self._ready])
        finished: list[tuple[Part, list[Strip] | None]] = []
        first = 0
        for part in parts:
            last = first + len(part.chunks)
            finished.append((part, self._rows_of(first, last) if last <= drawn else None))
            first = last
        return finished

    def _rows_of(self, first: int, last: int) -> list[Strip]:
        start = self._ends[first - 1] if first else 0
        return self.rows[start : self._ends[last - 1]]

    def _restart(self, width: int, palette: Palette) -> None:
        """Draw from scratch: for the first time, at another width or in another theme."""
        self._look = (width, palette)
        self.rows, self.frozen, self._before = [], 0, None
        self._ready = [*self._done, *self._ready]  # chunks do not depend on width or theme
        self._done, self._ends = [], []
        self._open_code, self._open_lines = [], 0

    def _next_chunks(self) -> Iterator[Chunk]:
        lines = 0
        while self._ready and lines < LINES_A_FRAME:
            chunk = self._ready.pop(0)
            lines += rows_of(chunk.source)
            yield chunk

    def _draw_open(self, chunk: Chunk, width: int, palette: Palette) -> list[Strip]:
        if chunk.kind is not ChunkKind.FENCE:
            return draw_chunk(chunk, width, palette, self.definitions)
        # Each line is colored once, on its own; colors across lines come when the fence closes.
        language, lines = fence_parts(chunk)
        for line in lines[self._open_lines : -1]:
            self._open_code += code_strips(line, language, width, palette)
            self._open_lines += 1
        last = code_strips(lines[-1], language, width, palette) if lines else []
        return [*self._open_code, *last]
