"""A long text that is read by keys: half pages, ends, and a search that keeps its hits in sight.

Moving a following view to a row or an entry at once, before the next layout.

A scrolling view that follows its end until the reader goes up, and then stays where the reader is.

One row below what is read: which keys there are, or what is searched and how often it was found.
"""

import asyncio
from collections.abc import Iterator

from rich.cells import cell_len
from textual import events
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.layout import DockArrangeResult
from textual.message import Message
from textual.widget import Widget

from coder_tui.text.safe_text import safe_line
from coder_tui.ui.draw.entry_strips import Place
from coder_tui.ui.draw.glyphs import UNICODE, Glyphs
from coder_tui.ui.draw.search_hits import Hit, Hits, pattern_of
from coder_tui.ui.draw.strips import cut
from coder_tui.ui.keymap import Hints, TakesKeys, named, named_hints
from coder_tui.ui.keys import Context
from coder_tui.ui.textual_internals import (
    LaysOutOnce,
    ScrollsAtOnce,
    forget_arrangements,
    placed_rows,
    without_grid,
)
from coder_tui.ui.transcript.history import History


class FollowingScroll(LaysOutOnce, ScrollsAtOnce, VerticalScroll):
    """Its first child is a history; the reader's place is an entry of it, so rows may come and go above."""

    class NewBelow(Message, namespace="transcript"):
        """`count` blocks came while the reader looked further up; 0 when the view follows again."""

        def __init__(self, count: int) -> None:
            super().__init__()
            self.count = count

    def __init__(self, history: History, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.history = history
        self._is_following = True
        self._new_below = 0

    @property
    def is_following(self) -> bool:
        return self._is_following

    def follow(self) -> None:
        """Go to the end and stay there."""
        self._start_following()
        self.history.refresh(layout=True)

    def note_new(self) -> None:
        """A block was added at the end."""
        if not self._is_following:
            self._new_below += 1
            self.post_message(self.NewBelow(self._new_below))

    # Within a layout the rows are known and nothing is painted yet: the one moment to move the view unseen.
    def arrange(self, size: Size, optimal: bool = False) -> DockArrangeResult:
        if not self.history.is_wrapped_at(size.width):
            forget_arrangements(self)
        result = without_grid(super().arrange(size, optimal))
        end = max(0, placed_rows(result.placements) - size.height)
        place = self.history.place
        row = end if place is None else min(end, self.history.index.row_of(place))
        if row != self.scroll_y:
            self.place_scroll(row)
        return result

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        row = round(new_value)
        if row >= self.max_scroll_y:
            self._start_following()
            return
        self._is_following = False
        self.history.stand_at(row)
        place = self.history.place
        if place is not None and self.history.settle(self.size.height):
            self.place_scroll(self.history.index.row_of(place))
            self.history.refresh(layout=True)

    def _start_following(self) -> None:
        self._is_following = True
        self.history.stand_at(None)
        if self._new_below:
            self._new_below = 0
            self.post_message(self.NewBelow(0))


class PlacedScroll(FollowingScroll):
    """Keys come faster than layouts: each move reckons from where the last one went."""

    def stand_at(self, row: int) -> None:
        """Let this row be the first in view."""
        rest = sum(child.size.height for child in self.children if child is not self.history)
        end = max(0, self.history.index.total + rest - self.size.height)
        if row >= end:
            self.follow()
            self.place_scroll(end)
            return
        self._is_following = False
        self.history.stand_at(max(0, row))
        if self.history.settle(self.size.height) and (place := self.history.place):
            row = self.history.index.row_of(place)
        self.place_scroll(max(0, row))
        self.history.refresh(layout=True)

    def reveal(self, index: int, offset: int) -> None:
        """Bring a row of an entry into view; from afar, with some rows of what stands above."""
        self._settle_at(index)
        row, top, height = self.history.index.start(index) + offset, round(self.scroll_y), self.size.height
        if not top <= row < top + height:
            self.stand_at(row - height // 3)

    def bring(self, index: int, *, at_top: bool = False) -> None:
        """Bring an entry into view: all of it, or its beginning where it is longer than the view."""
        self._settle_at(index)
        first = self.history.index.start(index)
        last = first + self.history.index.height(index) - 1
        top, height = round(self.scroll_y), self.size.height
        if at_top or first < top or last - first >= height:
            self.stand_at(first)
        elif last >= top + height:
            self.stand_at(last - height + 1)

    def _settle_at(self, index: int) -> None:
        """Make the heights there exact, and leave the view at what it shows."""
        place = self.history.place
        self.history.place = Place(index, 0)
        self.history.settle(self.size.height)
        self.history.place = place
        if place is not None:
            self.place_scroll(self.history.index.row_of(place))


_GAP = 2


class BrowseLine(Widget):
    """Hidden unless it has something to say; hints that do not fit are left out from the end."""

    DEFAULT_CSS = """
    BrowseLine {
        dock: bottom; height: 1; display: none; padding: 0 1; background: $background; color: $text-muted;
        text-wrap: nowrap; text-overflow: clip;
    }
    """

    def __init__(self, hints: Hints, glyphs: Glyphs = UNICODE, *, contexts: tuple[Context, ...] = ()) -> None:
        """`hints` begin with the most useful; `contexts` are those that their keys belong to."""
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
        keys = "Enter keep  Esc close" if self._is_typing else self._hit_keys()
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

    def _hit_keys(self) -> str:
        return named(self, "n N hits  Esc close", *self._contexts)

    def _change(self, words: str, count: str, *, is_typing: bool) -> None:
        self._words, self._count, self._is_typing = words, count, is_typing
        self.display = True
        self.refresh()


class SearchedScroll(TakesKeys, PlacedScroll):
    """`line`, which shows the search, stands wherever its owner puts it."""

    def __init__(self, history: History, line: BrowseLine, *, id: str | None = None) -> None:
        super().__init__(history, id=id)
        self.line = line
        self._query: str | None = None
        """What is being typed; None once it is accepted."""
        self._words = ""
        self._hits: Hits | None = None
        self._number = 0
        self._steps: int | None = None
        """Hits to go on by when all are counted; None when they are."""
        self._searched = 0

    @property
    def is_searching(self) -> bool:
        return self._query is not None or self._hits is not None

    def take(self, event: events.Key) -> bool:
        """While a query is typed, all keys are."""
        if self._query is None:
            return False
        match event.key:
            case "enter":
                self._accept()
            case "escape":
                self.end_search()
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

    def end_search(self) -> None:
        self._query, self._words, self._hits = None, "", None
        self._paint(None)
        self.line.show_hints()

    def action_search(self) -> None:
        self._query = ""
        self._show_search()

    def action_hit(self, step: int) -> None:
        """To the next or the previous hit, around the ends."""
        if self._hits is None:
            return
        if self._steps is not None:
            self._steps += step
        elif self._searched != len(self.history.strips):
            self._search(step)
        else:
            self._go(self._number + step)

    def action_half(self, way: int) -> None:
        self.stand_at(round(self.scroll_y) + way * max(1, self.size.height // 2))

    def action_end(self, way: int) -> None:
        if way < 0:
            self.stand_at(0)
        else:
            self.follow()

    def action_line(self, way: int) -> None:
        self.stand_at(round(self.scroll_y) + way)

    def nearest(self, hits: Hits) -> int:
        """The number of the hit to begin with."""
        return hits.first_from(self.history.index.index_at(round(self.scroll_y)))

    def found(self, index: int) -> None:
        """A hit in this entry was gone to."""

    def _accept(self) -> None:
        self._query = None
        if self._hits is not None and self._steps is None:
            self._go(self._number)
        self._show_search()

    def _type(self, query: str) -> None:
        self._query = self._words = query
        self._search(0)

    def _search(self, step: int) -> None:
        """Count the hits, in slices where there is much to read, and go to the nearest one."""
        pattern = pattern_of(self._words)
        self._hits = None if pattern is None else Hits(pattern)
        if self._hits is None:
            self._paint(None)
            self._show_search()
            return
        self._paint(None)
        self._steps, self._searched = step, len(self.history.strips)
        slices = self._hits.scan(self.history.strips.entries)
        if next(slices, self) is self:
            self._counted()
        else:
            self._show_search()
            self.run_worker(self._count(self._hits, slices), group="search", exclusive=True)

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
            self._show_search()
            return
        self._go(self._number + step if step else self.nearest(self._hits))

    def _go(self, number: int) -> None:
        if self._hits is None or not self._hits.count:
            return
        self._number = number % self._hits.count
        hit = self._hits.at(self._number)
        self._paint(hit)
        self.reveal(hit.index, self._row_of(hit))
        self.found(hit.index)
        self._show_search()

    def _paint(self, hit: Hit | None) -> None:
        self.history.hits.show(None if self._hits is None else self._hits.pattern, hit)
        self.history.refresh()

    def _row_of(self, hit: Hit) -> int:
        """What is found in folded text is unfolded, but not by every letter on the way."""
        row = self.history.hits.row_of(hit, self.history.drawn(hit.index))
        if row is None and self._query is None:
            self.history.open(hit.index)
            row = self.history.hits.row_of(hit, self.history.drawn(hit.index))
        return row or 0

    def _show_search(self) -> None:
        is_typing = self._query is not None
        self.line.show_search(self._words, self._said(), is_typing=is_typing)

    def _said(self) -> str:
        if self._hits is None:
            return ""
        if self._steps is not None:
            return "searching"
        count = self._hits.count
        return f"{self._number + 1:,} of {count:,}" if count else "not found"
