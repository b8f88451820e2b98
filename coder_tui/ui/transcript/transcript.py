"""The conversation as it is shown; the router reports facts by method calls, in order."""

from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import DisplayBlock
from coder_tui.protocol.events import ToolFinished
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.text.safe_text import safe_text
from coder_tui.ui.draw.blocks import cut_short
from coder_tui.ui.draw.entries import Entry, NoteEntry, ThinkingEntry, UserEntry, reply_entries
from coder_tui.ui.glyphs import ASCII, UNICODE, ThinkingLevel
from coder_tui.ui.transcript.scroll import TranscriptView
from coder_tui.ui.transcript.tail import LiveCalls

if TYPE_CHECKING:
    from coder_tui.ui.session.reading import BlockReader


class Transcript:
    """All strings given to it are raw; it makes them safe. `view` is the widget that shows them."""

    def __init__(
        self,
        *,
        use_ascii: bool = False,
        thinking: ThinkingLevel = ThinkingLevel.SUMMARY,
        has_motion: bool = True,
        clock: Callable[[], float] = monotonic,
        reader: "BlockReader | None" = None,
    ) -> None:
        glyphs = ASCII if use_ascii else UNICODE
        self.view = TranscriptView(glyphs, reader)
        self.history = self.view.history
        self.tail = self.view.tail
        self.calls = LiveCalls(
            self.view, self.history, self._add, clock, has_motion=has_motion, more=glyphs.more
        )
        self._streaming: str | None = None
        self._early = ("", "")
        """Message and text that went into the history before it was finished."""
        self._set_thinking(thinking)

    def add_user(self, message_id: str, text: str) -> None:
        self._end_stream()
        self.tail.drop_proposals()
        self._add(UserEntry(safe_text(text), message_id))

    def stream_text(self, message_id: str, text: str) -> None:
        self._begin_stream(message_id)
        self.tail.feed_text(text)

    def stream_thinking(self, message_id: str, text: str) -> None:
        self._begin_stream(message_id)
        self.tail.feed_thinking(text)

    def finish_message(self, message_id: str, text: str, thinking: str, *, interrupted: bool) -> None:
        """Show the final reply, which replaces what was streamed."""
        text, thinking = safe_text(text), safe_text(thinking)
        if self._streaming == message_id and text == self.tail.source:
            self._end_stream()
        elif self._early[0] == message_id:
            self._drop_stream()
            self._add_reply(text.removeprefix(self._early[1]) if text.startswith(self._early[1]) else "", "")
        else:
            self._drop_stream()
            self._add_reply(text, thinking)
        self.tail.settle_proposals()
        if interrupted:
            self.tail.drop_proposals()
            self.add_note(NoticeLevel.INFO, "Stopped by you.")

    def discard_stream(self, reason: str) -> None:
        """Drop what was streamed: a new attempt follows."""
        self._drop_stream()
        self.tail.drop_proposals()
        self.add_note(NoticeLevel.INFO, reason)

    def start_tool(self, call_id: str, tool: str, kind: ToolKind, summary: str) -> None:
        self._end_stream()
        self.tail.drop_proposals(call_id)
        self.calls.start(call_id, tool, kind, summary)

    def finish_tool(self, event: ToolFinished, proposal: DisplayBlock | None = None) -> None:
        """`proposal` is what the call would have done, if it was refused."""
        self._end_stream()
        self.tail.drop_proposals(event.call_id)
        self.calls.finish(event, proposal)

    def add_note(self, level: NoticeLevel, text: str) -> None:
        self._end_stream()
        self._add(NoteEntry(level, safe_text(cut_short(text))))

    def toggle_fold(self) -> None:
        """Expand all calls, or collapse them again."""
        view = self.history.strips.view
        self.history.set_view(replace(view, is_open=None if view.is_open else True))

    def cycle_thinking(self) -> None:
        self._set_thinking(self.history.strips.view.thinking.next)
        self.tail.pacer.request()

    def _set_thinking(self, level: ThinkingLevel) -> None:
        self.history.set_view(replace(self.history.strips.view, thinking=level))
        self.tail.thinking_level = level

    def _add(self, entry: Entry) -> int:
        self.view.count_new()
        return self.history.add(entry)

    def _add_reply(self, text: str, thinking: str) -> None:
        if thinking.strip():
            self._add(ThinkingEntry(thinking))
        if text.strip():
            for entry in reply_entries(text):
                self._add(entry)

    def _begin_stream(self, message_id: str) -> None:
        if self._streaming == message_id:
            return
        self._end_stream()
        self.tail.drop_proposals()
        self._streaming = message_id
        self.view.count_new()

    def _end_stream(self) -> None:
        """Move what was streamed into the history; what comes next goes below it."""
        if self._streaming is None:
            return
        before = self._early[1] if self._early[0] == self._streaming else ""
        self._early = (self._streaming, before + self.tail.source)
        self._streaming = None
        for part in self.tail.finish():
            self.history.add(part.entry, part.rows, part.height)

    def _drop_stream(self) -> None:
        if self._streaming is not None:
            self._streaming = None
            self.tail.clear()
