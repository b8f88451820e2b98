"""Tool calls under way: their entries stand in the history from the start and change where they stand."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from textual.message_pump import MessagePump

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import DisplayBlock, SubagentsBlock
from coder_tui.protocol.outcomes import Outcome
from coder_tui.protocol.subagents import ChildLine, ChildState
from coder_tui.text.safe_text import safe_line
from coder_tui.text.terminal import OutputReader
from coder_tui.ui.draw.call_entry import CallEntry, CallState, state_of
from coder_tui.ui.draw.entries import Entry
from coder_tui.ui.draw.glyphs import UNICODE
from coder_tui.ui.draw.strips import clipped
from coder_tui.ui.motion import Pacer, SecondHand
from coder_tui.ui.transcript.history import History

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
    """When each of them began to work."""

    def read(self, text: str) -> None:
        self.settled = (self.settled + self.reader.feed(text))[-KEPT_OUTPUT:]
        self.is_dirty = True

    def draw(self, now: float) -> None:
        """Made once a frame, however many pieces came."""
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
    """An id that nobody knows does no harm: a call that only finishes is shown too."""

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
            live.started = self._clock()  # the person's time is not the tool's
            self._change_state(call_id, CallState.RUNNING)

    def progress(self, call_id: str, text: str) -> None:
        if (live := self._live.get(call_id)) is not None:
            live.read(text)
            self._pacer.request()

    def show_children(self, call_id: str, children: tuple[ChildLine, ...]) -> None:
        """The sub-agents of a call, as they are now."""
        if (live := self._live.get(call_id)) is not None:
            live.children, live.is_dirty = children, True
            self._pacer.request()

    def finish(
        self,
        call_id: str,
        tool: str,
        outcome: Outcome,
        summary: str,
        display: DisplayBlock,
        duration_ms: int,
        proposal: DisplayBlock | None = None,
    ) -> None:
        live = self._live.pop(call_id, None)
        if outcome is Outcome.CANCELLED and live is not None:
            # What its sub-agents came to says more than that it was stopped.
            display = live.tree(self._clock()) or display
        entry = CallEntry(
            safe_line(tool),
            self._summary(summary) or (live.entry.summary if live else ""),
            live.entry.kind if live else ToolKind.OTHER,
            state_of(outcome),
            display,
            duration_ms,
            proposal=proposal,
            # A stopped call's result has nothing of what it printed.
            output=live.entry.output if live and outcome is Outcome.CANCELLED else "",
            call_id=call_id,
        )
        if live is None:
            self._add(entry)
        else:
            self._history.replace(live.index, entry)
        self._tick_if_needed()

    def _summary(self, text: str) -> str:
        # A tool says by this sign, whatever the terminal can draw, that its command goes on.
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
        """Count the seconds of what runs."""
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
