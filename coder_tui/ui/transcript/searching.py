"""Searching a long text by keys: the query, its hits, and the row below the text that shows both."""

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.widget import Widget

from coder_tui.text.safe_text import safe_line
from coder_tui.ui.draw.search_hits import Hit, Hits, pattern_of
from coder_tui.ui.draw.strips import cut
from coder_tui.ui.glyphs import UNICODE, Glyphs
from coder_tui.ui.keymap import Hints, named, named_hints
from coder_tui.ui.keys import Context

if TYPE_CHECKING:  # the view owns its search
    from coder_tui.ui.transcript.scroll import FollowingScroll

_GAP = 2


class BrowseLine(Widget):
    """Hidden unless it has something to show; hints that do not fit are left out, from the end."""

    DEFAULT_CSS = """
    BrowseLine {
        dock: bottom; height: 1; display: none; padding: 0 1; background: $background; color: $text-muted;
        text-wrap: nowrap; text-overflow: clip;
    }
    """

    def __init__(self, hints: Hints, glyphs: Glyphs = UNICODE, *, contexts: tuple[Context, ...] = ()) -> None:
        """`hints` are sorted, the most useful first; `contexts` are those of their keys."""
        super().__init__()
        self._hints = hints
        self._glyphs = glyphs
        self._contexts = contexts
        self._words = ""
        self._count = ""
        self._is_typing = False

    def show_hints(self) -> None:
        self._change("", "", is_typing=False)

    def use(self, hints: Hints) -> None:
        if hints != self._hints:
            self._hints = hints
            self.refresh()

    def show_search(self, words: str, count: str, *, is_typing: bool) -> None:
        self._change(safe_line(words), count, is_typing=is_typing)

    def hide(self) -> None:
        self.display = False

    def render(self) -> Content:
        width = self.content_size.width
        if self._words or self._is_typing:
            return self._search(width)
        parts: list[tuple[str, str]] = []
        used = 0
        for keys, word in named_hints(self, self._hints, self._contexts):
            used += cell_len(keys) + 1 + cell_len(word) + (_GAP if parts else 0)
            if used > width:
                break
            parts += [(" " * _GAP if parts else "", ""), (keys, "bold $foreground"), (f" {word}", "")]
        return Content.assemble(*parts)

    def _search(self, width: int) -> Content:
        hit_keys = named(self, "n N hits  Esc close", *self._contexts)
        keys = "Enter keep  Esc close" if self._is_typing else hit_keys
        tail = f"  {self._count}"
        room = max(1, width - cell_len(tail) - 2)
        # The end of a long query is what is being typed.
        words = self._words
        while cell_len(words) > room:
            words = words[1:]
        caret = ("_" if self._is_typing else "", "bold $text-primary")
        parts = [("/", "bold $text-primary"), (words, "$foreground"), caret, (tail, "bold $text-warning")]
        used = 1 + cell_len(words) + cell_len(caret[0]) + cell_len(tail)
        if width - used >= cell_len(keys) + _GAP:
            parts.append((" " * (width - used - cell_len(keys)) + keys, ""))
        return Content.assemble(*((cut(text, width, self._glyphs.more), style) for text, style in parts))

    def _change(self, words: str, count: str, *, is_typing: bool) -> None:
        self._words, self._count, self._is_typing = words, count, is_typing
        self.display = True
        self.refresh()


class ScrollSearch:
    """The search in one view: keeps its hits painted and in sight."""

    def __init__(self, view: "FollowingScroll") -> None:
        self._view = view
        self._history = view.history
        self._line = view.line
        self._query: str | None = None
        """The query while it is typed; None once it is accepted."""
        self._words = ""
        self._hits: Hits | None = None
        self._number = 0
        self._steps: int | None = None
        """Hits to move by once all are counted; None if they are."""
        self._searched = 0

    @property
    def is_active(self) -> bool:
        return self._query is not None or self._hits is not None

    def type_key(self, event: events.Key) -> bool:
        """While a query is typed, every key belongs to it."""
        if self._query is None:
            return False
        match event.key:
            case "enter":
                self._accept()
            case "escape":
                self.end()
            case "backspace" | "ctrl+h":
                self._type(self._query[:-1])
            case "ctrl+u":
                self._type("")
            case _ if event.is_printable and event.character:
                self._type(self._query + event.character)
            case _:
                return False
        return True

    def type_text(self, text: str) -> bool:
        if self._query is None:
            return False
        self._type(self._query + " ".join(text.split()))
        return True

    def end(self) -> None:
        self._query, self._words, self._hits = None, "", None
        self._paint(None)
        self._line.show_hints()

    def start(self) -> None:
        self._query = ""
        self._show()

    def go_by(self, step: int) -> None:
        """Go to the next or the previous hit, around the ends."""
        if self._hits is None:
            return
        if self._steps is not None:
            self._steps += step
        elif self._searched != len(self._history.strips):
            self._search(step)
        else:
            self._go(self._number + step)

    def _accept(self) -> None:
        self._query = None
        if self._hits is not None and self._steps is None:
            self._go(self._number)
        self._show()

    def _type(self, query: str) -> None:
        self._query = self._words = query
        self._search(0)

    def _search(self, step: int) -> None:
        """Count the hits, in slices if there is much to read, and go to the nearest one."""
        pattern = pattern_of(self._words)
        self._hits = None if pattern is None else Hits(pattern)
        if self._hits is None:
            self._paint(None)
            self._show()
            return
        self._paint(None)
        self._steps, self._searched = step, len(self._history.strips)
        slices = self._hits.scan(self._history.strips.entries)
        if next(slices, self) is self:
            self._counted()
        else:
            self._show()
            self._view.run_worker(self._count(self._hits, slices), group="search", exclusive=True)

    async def _count(self, hits: Hits, slices: Iterator[None]) -> None:
        for _ in slices:
            await asyncio.sleep(0)
            if self._hits is not hits:
                return
        if self._hits is hits:
            self._counted()

    def _counted(self) -> None:
        step, self._steps = self._steps or 0, None
        if self._hits is None or not self._hits.count:
            self._show()
            return
        self._go(self._number + step if step else self._view.nearest_hit(self._hits))

    def _go(self, number: int) -> None:
        if self._hits is None or not self._hits.count:
            return
        self._number = number % self._hits.count
        hit = self._hits.at(self._number)
        self._paint(hit)
        self._view.show_row(hit.index, self._row_of(hit))
        self._view.mark_hit(hit.index)
        self._show()

    def _paint(self, hit: Hit | None) -> None:
        self._history.hits.show(None if self._hits is None else self._hits.pattern, hit)
        self._history.refresh()

    def _row_of(self, hit: Hit) -> int:
        """Unfold the text of a hit, but not at every letter while the query is typed."""
        row = self._history.hits.row_of(hit, self._history.drawn(hit.index))
        if row is None and self._query is None:
            self._history.open(hit.index)
            row = self._history.hits.row_of(hit, self._history.drawn(hit.index))
        return row or 0

    def _show(self) -> None:
        is_typing = self._query is not None
        self._line.show_search(self._words, self._describe_count(), is_typing=is_typing)

    def _describe_count(self) -> str:
        if self._hits is None:
            return ""
        if self._steps is not None:
            return "searching"
        count = self._hits.count
        return f"{self._number + 1:,} of {count:,}" if count else "not found"
