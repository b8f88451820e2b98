"""What is being written right now: thinking, text, and calls whose arguments still come."""

from dataclasses import dataclass

from rich.text import Text
from textual.geometry import Region, Size
from textual.strip import Strip

from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.ui.draw.entries import GUTTER, Entry, ReplyEntry, ThinkingEntry, draw_thinking, marked
from coder_tui.ui.draw.glyphs import UNICODE, Glyphs, ThinkingLevel
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.streamed import StreamedMarkdown
from coder_tui.ui.draw.strips import beside, cut_text, plain_strip, to_strip
from coder_tui.ui.draw.widget import NARROWEST_DRAWING, DrawnLines
from coder_tui.ui.motion import Pacer

SHOWN_THOUGHT = 3000
"""Characters of a thought in progress that are shown: all of it is there when it is finished."""


PARTS_HANDED_OVER = 5
"""Of a long text only the end is in view; the history draws the rest when somebody goes there."""


@dataclass(frozen=True, slots=True)
class Taken:
    """An entry with its rows, or at least their number, where those are final."""

    entry: Entry
    rows: tuple[Strip, ...] = ()
    height: int | None = None


class Tail(DrawnLines):
    """Redraws the last Markdown block only, and at most once a frame."""

    def __init__(self, *, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(glyphs=glyphs)
        self.thinking_level = ThinkingLevel.SUMMARY
        self.pacer = Pacer(self, self._draw)
        self._width = 0
        self._proposals: dict[str, tuple[str, int]] = {}
        self._is_written = False
        self._drawn: list[Strip] = []
        self._body: list[Strip] = []
        self._body_look: tuple[int, Palette] | None = None
        self._text = StreamedMarkdown()
        self._thinking = ""
        self._held = ""

    @property
    def source(self) -> str:
        """What streamed so far, as it is shown."""
        return self._text.source + safe_text(self._held)

    @property
    def is_empty(self) -> bool:
        return not (self._text.has_text or self._held or self._thinking or self._proposals)

    def feed_text(self, text: str) -> None:
        # A chunk may end between CR and LF, which are one line end together.
        text, self._held = self._held + text, ""
        if text.endswith("\r"):
            text, self._held = text[:-1], "\r"
        self._text.feed(safe_text(text))
        self.pacer.request()

    def feed_thinking(self, text: str) -> None:
        self._thinking += safe_text(text)
        self.pacer.request()

    def propose(self, call_id: str, tool: str, received: int) -> None:
        self._proposals[call_id] = (safe_line(tool), received)
        self._is_written = False
        self.pacer.request()

    def settle_proposals(self) -> None:
        """The reply is whole: its calls wait for those before them."""
        self._is_written = True
        if self._proposals:
            self._draw()

    def drop_proposals(self, call_id: str | None = None) -> None:
        """One, or all of them."""
        dropped = [call_id] if call_id in self._proposals else [] if call_id else list(self._proposals)
        for each in dropped:
            del self._proposals[each]
        if dropped:
            self._draw()

    def take(self) -> list[Taken]:
        """End the stream: what it was, as entries. Proposals stay."""
        taken: list[Taken] = []
        if self._thinking.strip():
            taken.append(Taken(ThinkingEntry(self._thinking)))
        if self.source.strip():
            self._text.feed(safe_text(self._held))
            parts = self._text.finish()
            for number, (part, rows) in enumerate(parts):
                entry = ReplyEntry(part=part, definitions=self._text.definitions)
                is_near = number >= len(parts) - PARTS_HANDED_OVER
                framed = entry.framed(rows, self.palette) if rows and is_near else []
                taken.append(Taken(entry, tuple(framed), len(rows) if rows else None))
        self.clear()
        return taken

    def clear(self) -> None:
        """Forget what streamed, but for proposals."""
        self._text, self._thinking, self._held = StreamedMarkdown(), "", ""
        self._body, self._body_look = [], None
        self.pacer.cancel()
        self._draw()

    def redraw(self) -> None:
        """Something about how it looks has changed."""
        self.pacer.request()

    def rows(self, first: int, last: int) -> list[Strip]:
        rows = self._drawn[first:last]
        blank = plain_strip("", self._width, self.palette.base)
        return rows + [blank] * (last - first - len(rows))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        width = max(NARROWEST_DRAWING, width)
        if width != self._width:
            self._width = width
            self._compose_rows()
        return len(self._drawn)

    def _draw(self) -> bool:
        """Bring the rows up to date; says whether some had to wait for the next frame."""
        if not self._width:
            return False
        height, first = len(self._drawn), self._compose_rows()
        if len(self._drawn) != height:
            self.refresh(layout=True)
        else:
            self.refresh(Region(0, first, self.size.width, height - first))
        return self._text.has_backlog

    def _compose_rows(self) -> int:
        """Returns the first row that may have changed."""
        palette = self.palette
        blank = plain_strip("", self._width, palette.base)
        head = self._thinking_rows(palette)
        changed = self._update_body(palette)
        body = [blank, *self._body] if self._body else []
        foot = self._proposal_rows(palette)
        self._drawn = [*([blank] if head else []), *head, *body, *([blank] if foot else []), *foot]
        return 0 if head else min(changed, len(self._drawn))

    def _update_body(self, palette: Palette) -> int:
        if not self._text.has_text:
            return 0
        look = (self._width, palette)
        kept = self._text.frozen if self._body_look == look else 0
        self._body_look = look
        self._text.draw(self._width - GUTTER, palette)
        del self._body[kept:]
        new = self._text.rows[kept:]
        if new:
            mark = f"{palette.glyphs.reply} " if not kept else " " * GUTTER
            self._body += marked(mark, new, palette.running, palette)
        return kept

    def _thinking_rows(self, palette: Palette) -> list[Strip]:
        if not self._thinking.strip() or self.thinking_level is ThinkingLevel.HIDDEN:
            return []
        is_open = self.thinking_level is ThinkingLevel.FULL
        text = self._thinking[-SHOWN_THOUGHT:] if is_open else self._thinking.strip().rpartition("\n")[2]
        word = "thought" if self._text.has_text else "thinking"
        return draw_thinking(text, self._width, palette, is_open=is_open, word=word)

    def _proposal_rows(self, palette: Palette) -> list[Strip]:
        room = self._width - GUTTER
        mark = plain_strip(f"{palette.glyphs.pending} ", GUTTER, palette.dim)
        rows = []
        for tool, received in self._proposals.values():
            state = "comes next" if self._is_written else f"is being written, {received:,} characters"
            words = Text.assemble((tool, palette.strong), (f"  {state}", palette.dim))
            cut_text(words, room, palette.glyphs.more)
            rows.append(to_strip(words, room, palette.base))
        return beside(mark, rows)
