"""Browsing the transcript by key: a mark on one block, and what can be done with it."""

from collections.abc import Sequence
from typing import Protocol

from textual import events

from coder_tui.ui.draw.entries import Entry, ReplyEntry, UserEntry
from coder_tui.ui.draw.glyphs import Glyphs
from coder_tui.ui.draw.search_hits import Hits
from coder_tui.ui.draw.streamed import text_of
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.transcript.history import History
from coder_tui.ui.transcript.searching import BrowseLine, SearchedScroll

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


def browse_line(glyphs: Glyphs) -> BrowseLine:
    return BrowseLine(HINTS, glyphs, contexts=(Context.TRANSCRIPT,))


class Reader(Protocol):
    """What happens to a block outside of the transcript."""

    def copy(self, text: str) -> None: ...

    def copy_code(self, text: str) -> None: ...

    def read(self, block: Sequence[Entry]) -> None:
        """Show all of it on a page of its own."""

    def open(self, block: Sequence[Entry]) -> None:
        """Open it, or the file that it changed, in the person's editor."""


class BrowsedScroll(SearchedScroll):
    """The mark is there while it has the focus."""

    BINDINGS = bindings(Context.TRANSCRIPT)

    def __init__(self, history: History, line: BrowseLine, *, id: str | None = None) -> None:
        super().__init__(history, line, id=id)
        self.reader: Reader | None = None

    def nearest(self, hits: Hits) -> int:
        """Upwards: who searches a conversation stands at its end."""
        self._show_cursor()
        return hits.last_before(self.history.cursor or 0)

    def on_focus(self, event: events.Focus) -> None:
        self._show_cursor()
        if not self.is_searching:
            self.line.show_hints()

    def on_blur(self, event: events.Blur) -> None:
        self.end_search()
        self.line.hide()
        self.history.move_cursor(None)

    def found(self, index: int) -> None:
        self.history.move_cursor(index)

    async def action_leave(self) -> None:
        """Close the search; without one, what Esc means elsewhere."""
        if self.is_searching:
            self.end_search()
        else:
            await self.run_action("screen.escape")

    def action_fold(self) -> None:
        self._show_cursor()
        if self.history.cursor is not None:
            self.history.toggle(self.history.cursor)

    def action_move(self, step: int) -> None:
        """To the next or previous block, brought into view."""
        count = len(self.history.strips)
        current = count if self.history.cursor is None else self.history.cursor
        self._mark(max(0, min(count - 1, current + step)))

    def action_message(self, step: int) -> None:
        """To the next or previous message of the person's."""
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
        if self.reader is not None and (block := self._block()):
            self.reader.copy(source_of_block(block))

    def action_copy_code(self) -> None:
        if self.reader is not None and (block := self._block()):
            self.reader.copy_code(source_of_block(block))

    def action_read(self) -> None:
        if self.reader is not None and (block := self._block()):
            self.reader.read(block)

    def action_edit(self) -> None:
        if self.reader is not None and (block := self._block()):
            self.reader.open(block)

    @property
    def marked_message(self) -> str:
        """The id of the marked message, if it is the person's; else empty."""
        block = self._block()
        return block[0].message_id if block and isinstance(block[0], UserEntry) else ""

    def _block(self) -> list[Entry]:
        """The marked entry; of a long reply, all its parts."""
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
            self.bring(index, at_top=at_top)

    def _show_cursor(self) -> None:
        """On the last block in view, unless it is somewhere already."""
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
    """Its text; a long reply's parts go on where the one before was cut."""
    parts = [entry.part for entry in block if isinstance(entry, ReplyEntry) and entry.part]
    if parts:
        return text_of(chunk for part in parts for chunk in part.chunks)
    return "\n\n".join(entry.source for entry in block)
