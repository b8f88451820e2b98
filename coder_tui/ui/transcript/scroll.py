"""Scrolling views that follow their end until the reader goes up; the transcript is also browsed by keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.layout import DockArrangeResult
from textual.message import Message

from coder_tui.ui.draw import blocks
from coder_tui.ui.draw.entries import Entry, ReplyEntry, UserEntry
from coder_tui.ui.draw.entry_strips import Place
from coder_tui.ui.draw.markdown import load as load_markdown
from coder_tui.ui.draw.search_hits import Hits
from coder_tui.ui.draw.streamed import text_of
from coder_tui.ui.glyphs import Glyphs
from coder_tui.ui.keymap import TypingTarget
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.motion import after_first_paint
from coder_tui.ui.textual_internals import (
    ScrollsAtOnce,
    forget_arrangements,
    placed_rows,
    without_grid,
)
from coder_tui.ui.transcript.history import History
from coder_tui.ui.transcript.searching import BrowseLine, ScrollSearch
from coder_tui.ui.transcript.tail import Tail

if TYPE_CHECKING:
    from coder_tui.ui.session.reading import BlockReader


class FollowingScroll(TypingTarget, ScrollsAtOnce, VerticalScroll):
    """Its first child is a history. The reader's place is an entry of it, so rows may come and go above.

    `line`, which shows the search, is mounted by its owner.
    """

    @dataclass
    class NewBelow(Message, namespace="transcript"):
        """`count` blocks were added while the reader was further up; 0 when the view follows again."""

        count: int

    def __init__(self, history: History, line: BrowseLine, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.history = history
        self.line = line
        self.search = ScrollSearch(self)
        self.is_following = True
        self._new_below = 0

    def follow(self) -> None:
        """Go to the end and stay there."""
        self._start_following()
        self.history.refresh(layout=True)

    def count_new(self) -> None:
        """Count a block that was added at the end."""
        if not self.is_following:
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
        self.is_following = False
        self.history.set_top(row)
        place = self.history.place
        if place is not None and self.history.settle(self.size.height):
            self.place_scroll(self.history.index.row_of(place))
            self.history.refresh(layout=True)

    def _start_following(self) -> None:
        self.is_following = True
        self.history.set_top(None)
        if self._new_below:
            self._new_below = 0
            self.post_message(self.NewBelow(0))

    # Keys come faster than layouts: each move starts from where the last one ended.
    def scroll_to_row(self, row: int) -> None:
        """Make this row the first in view."""
        rest = sum(child.size.height for child in self.children if child is not self.history)
        end = max(0, self.history.index.total + rest - self.size.height)
        if row >= end:
            self.follow()
            self.place_scroll(end)
            return
        self.is_following = False
        self.history.set_top(max(0, row))
        if self.history.settle(self.size.height) and (place := self.history.place):
            row = self.history.index.row_of(place)
        self.place_scroll(max(0, row))
        self.history.refresh(layout=True)

    def show_row(self, index: int, offset: int) -> None:
        """Bring a row of an entry into view; if it is far away, with some rows above it."""
        self._settle_at(index)
        row, top, height = self.history.index.start(index) + offset, round(self.scroll_y), self.size.height
        if not top <= row < top + height:
            self.scroll_to_row(row - height // 3)

    def show_entry(self, index: int, *, at_top: bool = False) -> None:
        """Bring an entry into view: all of it, or its beginning if it is longer than the view."""
        self._settle_at(index)
        first = self.history.index.start(index)
        last = first + self.history.index.height(index) - 1
        top, height = round(self.scroll_y), self.size.height
        if at_top or first < top or last - first >= height:
            self.scroll_to_row(first)
        elif last >= top + height:
            self.scroll_to_row(last - height + 1)

    def _settle_at(self, index: int) -> None:
        """Make the heights there exact, and leave the view where it is."""
        place = self.history.place
        self.history.place = Place(index, 0)
        self.history.settle(self.size.height)
        self.history.place = place
        if place is not None:
            self.place_scroll(self.history.index.row_of(place))

    def type_key(self, event: events.Key) -> bool:
        return self.search.type_key(event)

    def type_text(self, text: str) -> bool:
        return self.search.type_text(text)

    def action_search(self) -> None:
        self.search.start()

    def action_hit(self, step: int) -> None:
        self.search.go_by(step)

    def action_half(self, way: int) -> None:
        self.scroll_to_row(round(self.scroll_y) + way * max(1, self.size.height // 2))

    def action_end(self, way: int) -> None:
        if way < 0:
            self.scroll_to_row(0)
        else:
            self.follow()

    def action_line(self, way: int) -> None:
        self.scroll_to_row(round(self.scroll_y) + way)

    def nearest_hit(self, hits: Hits) -> int:
        """Return the number of the hit to begin with."""
        return hits.first_from(self.history.index.index_at(round(self.scroll_y)))

    def mark_hit(self, index: int) -> None:
        """Handle that a hit in this entry was gone to."""


HINTS = (
    ("j k", "block"),
    ("/", "search"),
    ("o", "fold"),
    ("v", "read"),
    ("y", "copy"),
    ("i", "prompt"),
    ("J K", "message"),
    ("u", "resend"),
    ("c", "code"),
    ("e", "editor"),
    ("?", "keys"),
)


class TranscriptView(FollowingScroll):
    """Scrolls the finished entries and the live end; the mark is there while it has the focus."""

    DEFAULT_CSS = """
    TranscriptView {
        height: 1fr;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
    }
    """
    BINDINGS = bindings(Context.TRANSCRIPT)

    def __init__(self, glyphs: Glyphs, reader: "BlockReader | None" = None) -> None:
        """`reader` copies, opens and shows blocks; without one, those keys do nothing."""
        super().__init__(History(glyphs=glyphs), BrowseLine(HINTS, glyphs, contexts=(Context.TRANSCRIPT,)))
        self.tail = Tail(glyphs=glyphs)
        self._reader = reader

    def compose(self) -> ComposeResult:
        yield self.history
        yield self.tail

    def on_mount(self) -> None:
        after_first_paint(self, lambda: self.run_worker(_load, thread=True))

    def nearest_hit(self, hits: Hits) -> int:
        """Search upwards: the reader of a conversation is usually at its end."""
        self._show_cursor()
        return hits.last_before(self.history.cursor or 0)

    def on_focus(self, event: events.Focus) -> None:
        self._show_cursor()
        if not self.search.is_active:
            self.line.show_hints()

    def on_blur(self, event: events.Blur) -> None:
        self.search.end()
        self.line.hide()
        self.history.move_cursor(None)

    def mark_hit(self, index: int) -> None:
        self.history.move_cursor(index)

    async def action_leave(self) -> None:
        """Close the search; if there is none, do what Esc does elsewhere."""
        if self.search.is_active:
            self.search.end()
        else:
            await self.run_action("screen.run('escape')")

    def action_fold(self) -> None:
        self._show_cursor()
        if self.history.cursor is not None:
            self.history.toggle(self.history.cursor)

    def action_move(self, step: int) -> None:
        """Mark the next or previous block, and bring it into view."""
        count = len(self.history.strips)
        current = count if self.history.cursor is None else self.history.cursor
        self._mark(max(0, min(count - 1, current + step)))

    def action_message(self, step: int) -> None:
        """Mark the next or previous message of the user."""
        entries, count = self.history.strips.entries, len(self.history.strips)
        index = count if self.history.cursor is None else self.history.cursor
        index += step
        while 0 <= index < count and not isinstance(entries[index], UserEntry):
            index += step
        if 0 <= index < count:
            self._mark(index, at_top=True)
        elif step > 0:
            self.action_end(1)

    def action_end(self, way: int) -> None:
        super().action_end(way)
        self.history.move_cursor(0 if way < 0 else len(self.history.strips) - 1)

    def action_half(self, way: int) -> None:
        super().action_half(way)
        self._keep_cursor_in_view()

    def action_copy(self) -> None:
        if self._reader is not None and (block := self._block()):
            self._reader.copy(source_of_block(block))

    def action_copy_code(self) -> None:
        if self._reader is not None and (block := self._block()):
            self._reader.copy_code(source_of_block(block))

    def action_read(self) -> None:
        if self._reader is not None and (block := self._block()):
            self._reader.read(block)

    def action_edit(self) -> None:
        if self._reader is not None and (block := self._block()):
            self._reader.open(block)

    @property
    def marked_message(self) -> str:
        """The id of the marked message if the user wrote it, else empty."""
        block = self._block()
        return block[0].message_id if block and isinstance(block[0], UserEntry) else ""

    def _block(self) -> list[Entry]:
        """Return the marked entry; of a long reply, all its parts."""
        self._show_cursor()
        first = self.history.cursor
        if first is None:
            return []
        entries = self.history.strips.entries
        last = first + 1
        while first and isinstance(entries[first], ReplyEntry) and not entries[first].has_gap:
            first -= 1
        while last < len(entries) and isinstance(entries[last], ReplyEntry) and not entries[last].has_gap:
            last += 1
        return [entries[index] for index in range(first, last)]

    def _mark(self, index: int, *, at_top: bool = False) -> None:
        if 0 <= index < len(self.history.strips):
            self.history.move_cursor(index)
            self.show_entry(index, at_top=at_top)

    def _show_cursor(self) -> None:
        """Mark the last block in view, unless one is marked already."""
        if self.history.cursor is None:
            last_row = round(self.scroll_y) + self.size.height - 1
            self.history.move_cursor(self.history.index.index_at(last_row))

    def _keep_cursor_in_view(self) -> None:
        index = self.history.index
        first = index.index_at(round(self.scroll_y))
        last = index.index_at(round(self.scroll_y) + self.size.height - 1)
        cursor = last if self.history.cursor is None else self.history.cursor
        self.history.move_cursor(max(first, min(last, cursor)))


def source_of_block(block: Sequence[Entry]) -> str:
    """Return the text of a block; the parts of a long reply are joined without a gap."""
    parts = [entry.part for entry in block if isinstance(entry, ReplyEntry) and entry.part]
    if parts:
        return text_of(chunk for part in parts for chunk in part.chunks)
    return "\n\n".join(entry.source for entry in block)


def _load() -> None:
    """Import what the first reply and the first edit would have to wait for."""
    load_markdown()
    blocks.load()
