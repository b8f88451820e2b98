"""A long text that is read by keys: half pages, ends, and a search that keeps its hits in sight."""

import asyncio
from collections.abc import Iterator

from textual import events

from coder_tui.ui.drawing.searching import Hit, Hits, pattern_of
from coder_tui.ui.widgets.browse_line import BrowseLine
from coder_tui.ui.widgets.history import History
from coder_tui.ui.widgets.placed_scroll import PlacedScroll
from coder_tui.ui.widgets.takes_keys import TakesKeys


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
