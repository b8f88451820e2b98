"""The conversation as it is shown: facts about it come in as method calls, in order."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic

from textual.app import ComposeResult

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import DisplayBlock
from coder_tui.protocol.outcomes import NoticeLevel, Outcome
from coder_tui.text.safe_text import safe_text
from coder_tui.ui.draw import blocks
from coder_tui.ui.draw.entries import Entry, NoteEntry, ThinkingEntry, UserEntry, reply_entries
from coder_tui.ui.draw.glyphs import ASCII, UNICODE, ThinkingLevel
from coder_tui.ui.draw.limits import cut_short
from coder_tui.ui.draw.markdown import load as load_markdown
from coder_tui.ui.motion import after_first_paint
from coder_tui.ui.transcript.browsing import BrowsedScroll, browse_line
from coder_tui.ui.transcript.history import History
from coder_tui.ui.transcript.live_calls import LiveCalls
from coder_tui.ui.transcript.tail import Tail


class Transcript(BrowsedScroll):
    """All strings given to it are raw; it makes them safe."""

    DEFAULT_CSS = """
    Transcript {
        height: 1fr;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
    }
    """

    def __init__(
        self,
        *,
        use_ascii: bool = False,
        thinking: ThinkingLevel = ThinkingLevel.SUMMARY,
        has_motion: bool = True,
        clock: Callable[[], float] = monotonic,
        id: str | None = None,
    ) -> None:
        glyphs = ASCII if use_ascii else UNICODE
        super().__init__(History(glyphs=glyphs), browse_line(glyphs), id=id)
        self.tail = Tail(glyphs=glyphs)
        self.calls = LiveCalls(self, self.history, self._add, clock, has_motion=has_motion, more=glyphs.more)
        self._streaming: str | None = None
        self._early = ("", "")
        """Message and text that went into the history before it was finished."""
        self._set_thinking(thinking)

    def compose(self) -> ComposeResult:
        yield self.history
        yield self.tail

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
        """The whole reply; it counts, whatever has streamed before."""
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
        """A new attempt follows: what streamed does not count."""
        self._drop_stream()
        self.tail.drop_proposals()
        self.add_note(NoticeLevel.INFO, reason)

    def propose_tool(self, call_id: str, tool: str, received: int) -> None:
        self.tail.propose(call_id, tool, received)

    def start_tool(self, call_id: str, tool: str, kind: ToolKind, summary: str) -> None:
        self._end_stream()
        self.tail.drop_proposals(call_id)
        self.calls.start(call_id, tool, kind, summary)

    def wait_tool(self, call_id: str) -> None:
        self.calls.wait(call_id)

    def resume_tool(self, call_id: str) -> None:
        self.calls.resume(call_id)

    def progress_tool(self, call_id: str, text: str) -> None:
        self.calls.progress(call_id, text)

    def finish_tool(
        self,
        call_id: str,
        tool: str,
        outcome: Outcome,
        summary: str,
        display: DisplayBlock,
        duration_ms: int,
        proposal: DisplayBlock | None = None,
    ) -> None:
        """`proposal` is what the call would have done, where it was not let."""
        self._end_stream()
        self.tail.drop_proposals(call_id)
        self.calls.finish(call_id, tool, outcome, summary, display, duration_ms, proposal)

    def add_note(self, level: NoticeLevel, text: str) -> None:
        self._end_stream()
        self._add(NoteEntry(level, safe_text(cut_short(text))))

    @contextmanager
    def adding_many(self) -> Iterator[None]:
        """Add any number of finished things at the price of one layout."""
        self.history.is_batching = True
        try:
            yield
        finally:
            self.history.is_batching = False
            self.history.refresh(layout=True)

    def toggle_fold(self) -> None:
        """Show everything of every call, or go back."""
        view = self.history.strips.view
        self.history.set_view(replace(view, is_open=None if view.is_open else True))

    def cycle_thinking(self) -> None:
        self._set_thinking(self.history.strips.view.thinking.next)
        self.tail.redraw()

    def end_turn(self) -> None:
        """Calls that were announced and never came are gone."""
        self.tail.drop_proposals()

    def on_mount(self) -> None:
        after_first_paint(self, lambda: self.run_worker(_load, thread=True))

    def _set_thinking(self, level: ThinkingLevel) -> None:
        self.history.set_view(replace(self.history.strips.view, thinking=level))
        self.tail.thinking_level = level

    def _add(self, entry: Entry) -> int:
        self.note_new()
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
        self.note_new()

    def _end_stream(self) -> None:
        """Whatever comes next stands below what has streamed."""
        if self._streaming is None:
            return
        before = self._early[1] if self._early[0] == self._streaming else ""
        self._early = (self._streaming, before + self.tail.source)
        self._streaming = None
        for taken in self.tail.take():
            self.history.add(taken.entry, taken.rows, taken.height)

    def _drop_stream(self) -> None:
        if self._streaming is not None:
            self._streaming = None
            self.tail.clear()


def _load() -> None:
    """What the first reply and the first edit would have to wait for."""
    load_markdown()
    blocks.load()
