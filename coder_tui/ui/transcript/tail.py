"""What still changes in the transcript: streamed text, calls that are being written, and running calls."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from rich.text import Text
from textual.geometry import Region, Size
from textual.message_pump import MessagePump
from textual.strip import Strip

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import DisplayBlock, SubagentsBlock
from coder_tui.protocol.events import ToolFinished
from coder_tui.protocol.outcomes import Outcome
from coder_tui.protocol.subagents import ChildLine, ChildState
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.text.terminal import OutputReader
from coder_tui.ui.draw.call_entry import CallEntry, CallState, finished_call
from coder_tui.ui.draw.entries import GUTTER, Entry, ReplyEntry, ThinkingEntry, draw_thinking, marked
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.streamed import StreamedMarkdown
from coder_tui.ui.draw.strips import clipped, cut_text, plain_strip, prefix_rows, to_strip
from coder_tui.ui.draw.widget import NARROWEST_DRAWING, DrawnLines
from coder_tui.ui.glyphs import UNICODE, Glyphs, ThinkingLevel
from coder_tui.ui.motion import Pacer, SecondHand
from coder_tui.ui.transcript.history import History

SHOWN_THOUGHT = 3000
"""Characters shown of a thought in progress; when it is finished, all of it is shown."""


PARTS_HANDED_OVER = 5
"""Parts of a long text that are handed over drawn; the history draws the rest when it comes into view."""


@dataclass(frozen=True, slots=True)
class FinishedPart:
    """An entry with its rows, or at least their number, if those are final."""

    entry: Entry
    rows: tuple[Strip, ...] = ()
    height: int | None = None


class Tail(DrawnLines):
    """Redraws only the last Markdown block, and at most once a frame."""

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
        """The text that was streamed so far, as it is shown."""
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
        """Show that the reply is complete: its calls wait for those before them."""
        self._is_written = True
        if self._proposals:
            self._draw()

    def drop_proposals(self, call_id: str | None = None) -> None:
        """Drop one proposal, or all."""
        dropped = [call_id] if call_id in self._proposals else [] if call_id else list(self._proposals)
        for each in dropped:
            del self._proposals[each]
        if dropped:
            self._draw()

    def finish(self) -> list[FinishedPart]:
        """End the stream and return it as entries. Proposals stay."""
        finished: list[FinishedPart] = []
        if self._thinking.strip():
            finished.append(FinishedPart(ThinkingEntry(self._thinking)))
        if self.source.strip():
            self._text.feed(safe_text(self._held))
            parts = self._text.finish()
            for number, (part, rows) in enumerate(parts):
                entry = ReplyEntry(part=part, definitions=self._text.definitions)
                is_near = number >= len(parts) - PARTS_HANDED_OVER
                framed = entry.framed(rows, self.palette) if rows and is_near else []
                finished.append(FinishedPart(entry, tuple(framed), len(rows) if rows else None))
        self.clear()
        return finished

    def clear(self) -> None:
        """Forget the stream, except for proposals."""
        self._text, self._thinking, self._held = StreamedMarkdown(), "", ""
        self._body, self._body_look = [], None
        self.pacer.cancel()
        self._draw()

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
        """Update the rows; return whether some have to wait for the next frame."""
        if not self._width:
            return False
        height, first = len(self._drawn), self._compose_rows()
        if len(self._drawn) != height:
            self.refresh(layout=True)
        else:
            self.refresh(Region(0, first, self.size.width, height - first))
        return self._text.has_backlog

    def _compose_rows(self) -> int:
        """Compose all rows; return the first that may have changed."""
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
        return prefix_rows(mark, rows)


KEPT_OUTPUT = 8000
"""Characters of live output: a few lines of it are shown."""


@dataclass(slots=True)
class _Live:
    index: int
    entry: CallEntry
    started: float
    is_dirty: bool = False
    reader: OutputReader = field(default_factory=OutputReader)
    settled: str = ""
    children: tuple[ChildLine, ...] = ()
    begun: dict[str, float] = field(default_factory=dict)
    """When each of them started."""

    def read(self, text: str) -> None:
        self.settled = (self.settled + self.reader.feed(text))[-KEPT_OUTPUT:]
        self.is_dirty = True

    def draw(self, now: float) -> None:
        """Draw once a frame, however many pieces came."""
        output = (self.settled + self.reader.pending)[-KEPT_OUTPUT:]
        self.entry, self.is_dirty = replace(self.entry, output=output, display=self.tree(now)), False

    def tree(self, now: float) -> SubagentsBlock | None:
        if not self.children:
            return None
        return SubagentsBlock(tuple(self._timed(child, now) for child in self.children))

    def _timed(self, child: ChildLine, now: float) -> ChildLine:
        if child.state is ChildState.QUEUED or child.state.is_over:
            return child
        return replace(child, seconds=int(now - self.begun.setdefault(child.child_id, now)))


class LiveCalls:
    """Running tool calls: their entries are in the history from the start, and change in place.

    Unknown ids are ignored, except that a call that only finishes is shown.
    """

    def __init__(
        self,
        owner: MessagePump,
        history: History,
        add: Callable[[Entry], int],
        clock: Callable[[], float],
        *,
        has_motion: bool = True,
        more: str = UNICODE.more,
    ) -> None:
        """`more` marks what is left out of a line."""
        self._history = history
        self._add = add
        self._clock = clock
        self._has_motion = has_motion
        self._more = more
        self._live: dict[str, _Live] = {}
        self._pacer = Pacer(owner, self._draw)
        self._second_hand = SecondHand(owner, self.tick)

    @property
    def is_ticking(self) -> bool:
        return self._second_hand.is_ticking

    @property
    def is_drawing(self) -> bool:
        return self._pacer.is_pending

    def start(self, call_id: str, tool: str, kind: ToolKind, summary: str) -> None:
        entry = CallEntry(safe_line(tool), self._summary(summary), kind, call_id=call_id)
        if (live := self._live.get(call_id)) is not None:
            live.entry = replace(entry, state=live.entry.state)
            self._history.replace(live.index, live.entry)
            return
        self._live[call_id] = _Live(self._add(entry), entry, self._clock())
        self._tick_if_needed()

    def wait(self, call_id: str) -> None:
        self._change_state(call_id, CallState.WAITING)

    def resume(self, call_id: str) -> None:
        if (live := self._live.get(call_id)) is not None:
            live.started = self._clock()  # waiting for the user is not the tool's time
            self._change_state(call_id, CallState.RUNNING)

    def progress(self, call_id: str, text: str) -> None:
        if (live := self._live.get(call_id)) is not None:
            live.read(text)
            self._pacer.request()

    def show_children(self, call_id: str, children: tuple[ChildLine, ...]) -> None:
        """Show the sub-agents of a call."""
        if (live := self._live.get(call_id)) is not None:
            live.children, live.is_dirty = children, True
            self._pacer.request()

    def finish(self, event: ToolFinished, proposal: DisplayBlock | None = None) -> None:
        entry = replace(finished_call(event), summary=self._summary(event.summary), proposal=proposal)
        live = self._live.pop(event.call_id, None)
        if live is None:
            self._add(entry)
            return
        entry = replace(entry, summary=entry.summary or live.entry.summary, kind=live.entry.kind)
        if event.outcome is Outcome.CANCELLED:
            # Its result does not include its output, and those of its sub-agents say more than it does.
            display = live.tree(self._clock()) or event.display
            entry = replace(entry, display=display, output=live.entry.output)
        self._history.replace(live.index, entry)
        self._tick_if_needed()

    def _summary(self, text: str) -> str:
        # Tools mark a shortened command with this sign, even if the terminal cannot draw it.
        line = clipped(safe_line(text), self._more)
        return line.removesuffix(UNICODE.more) + self._more if line.endswith(UNICODE.more) else line

    def _change_state(self, call_id: str, state: CallState) -> None:
        if (live := self._live.get(call_id)) is not None and live.entry.state is not state:
            live.entry = replace(live.entry, state=state, seconds=0)
            self._history.replace(live.index, live.entry)
            self._tick_if_needed()

    def _draw(self) -> bool:
        for live in self._live.values():
            if live.is_dirty:
                live.draw(self._clock())
                self._history.replace(live.index, live.entry)
        return False

    def tick(self) -> None:
        """Update the seconds of running calls."""
        for live in self._live.values():
            if live.entry.state is CallState.RUNNING:
                now = self._clock()
                live.entry = replace(live.entry, seconds=int(now - live.started), display=live.tree(now))
                self._history.replace(live.index, live.entry)

    def _tick_if_needed(self) -> None:
        is_running = any(live.entry.state is CallState.RUNNING for live in self._live.values())
        if self._has_motion and is_running:
            self._second_hand.start()
        else:
            self._second_hand.stop()
