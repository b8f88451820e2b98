"""What runs in the background, sub-agents and commands: see their states, read their output, stop them."""

from collections.abc import Callable, Collection

from coder_tui.agent.session import Session
from coder_tui.agent.user_shell import BackgroundJobs
from coder_tui.protocol.child_progress import first_line
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.events import (
    Event,
    MessageFinished,
    SubagentEvent,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolProposed,
    ToolStarted,
)
from coder_tui.protocol.subagents import ChildLine
from coder_tui.shell.jobs import JobState
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.draw.blocks import cost_words, state_glyph
from coder_tui.ui.draw.entries import Entry
from coder_tui.ui.glyphs import Chrome, Glyphs
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.lists.picker import LivePicker
from coder_tui.ui.lists.row_list import Item
from coder_tui.ui.motion import Pacer
from coder_tui.ui.transcript.pager import PagerScreen, child_entries

NO_SUBAGENTS = "There are no sub-agents yet."
IS_OVER = "This sub-agent has already ended."
STOPPED = "The sub-agent was stopped. The others go on."


class SubagentsScreen(LivePicker):
    """Lists sub-agents with their current states; `only` limits them to those of one call."""

    BINDINGS = bindings(Context.SUBAGENTS)
    help_context = Context.SUBAGENTS
    heading = "Sub-agents"
    hints = (("Enter", "read"), ("x", "stop"), ("/", "filter"), ("Esc", "close"))

    def __init__(
        self,
        chrome: Chrome,
        session: Session,
        read: Callable[[ChildLine], None],
        only: Collection[str] | None = None,
    ) -> None:
        super().__init__(chrome)
        self._session = session
        self._read = read
        self._only = only
        self._lines: dict[str, ChildLine] = {}
        self._pacer = Pacer(self, self._reload)

    def subscribe(self) -> Callable[[], None]:
        return self._session.subscribe(self._handle_event)

    def fill(self) -> None:
        self.list.show((), empty=f"Loading{self.chrome.more}")
        super().fill()

    def choose(self, item: Item) -> None:
        self._read(self._lines[item.key])

    def action_stop(self) -> None:
        if (item := self.list.marked) is not None:
            is_stopped = self._session.subagents.stop(item.key)
            self.show_note(STOPPED if is_stopped else IS_OVER, "$text-warning")

    def _handle_event(self, event: Event) -> None:
        """Reload, except for pieces of text, which change no row."""
        is_piece = isinstance(event, SubagentEvent) and isinstance(
            event.event, TextDelta | ThinkingDelta | ToolProposed
        )
        if isinstance(event, SubagentEvent) and not is_piece and self.is_mounted:
            self._pacer.request()

    def reload(self) -> None:
        self.run_worker(self._load(), exclusive=True, group="children")

    def _reload(self) -> bool:
        self.reload()
        return False

    async def _load(self) -> None:
        try:
            lines = await self._session.subagents.lines()
        except UserError as error:
            self.show_note(str(error), "$text-error")
            return
        shown = [line for line in lines if self._only is None or line.child_id in self._only]
        is_first = not self._lines
        self._lines = {line.child_id: line for line in shown}
        marked = _most_wanted(shown) if is_first else None
        self.list.show([self._item(line) for line in shown], marked, empty=NO_SUBAGENTS)

    def _item(self, line: ChildLine) -> Item:
        news = first_line(line.summary) if line.state.is_over else line.doing
        seconds = f"{line.seconds}s" if line.seconds else ""
        return Item(
            key=line.child_id,
            label=f"{line.agent}  {line.task}",
            lead=f"{state_glyph(line.state, self.chrome)} {line.state}",
            details=(seconds, cost_words(line.cost)),
            note=news or line.task,
            also=line.summary,
        )


def _most_wanted(lines: list[ChildLine]) -> str | None:
    """Return the first one that still works, else the newest."""
    running = (line.child_id for line in lines if not line.state.is_over)
    return next(running, lines[-1].child_id if lines else None)


class ChildPage(PagerScreen):
    """Shows a sub-agent's conversation as it grows; a call that ends is updated in place."""

    def __init__(
        self,
        line: ChildLine,
        session: Session,
        glyphs: Glyphs,
        copy: Callable[[str], None],
        edit: Callable[[str], None],
    ) -> None:
        super().__init__(f"{line.agent}  {line.task}", glyphs, copy, edit)
        self._child_id = line.child_id
        self._session = session
        self._entries: list[Entry] = []
        self._pacer = Pacer(self, self._reload)
        self._unsubscribe = session.subscribe(self._handle_event)

    def on_mount(self) -> None:
        super().on_mount()
        self._reload()

    def on_unmount(self) -> None:
        self._unsubscribe()

    def _handle_event(self, event: Event) -> None:
        match event:
            case SubagentEvent(child_id=child_id, event=MessageFinished() | ToolStarted() | ToolFinished()):
                if child_id == self._child_id and self.is_mounted:
                    self._pacer.request()
            case _:
                pass

    def _reload(self) -> bool:
        self.run_worker(self._load(), exclusive=True, group="child")
        return False

    async def _load(self) -> None:
        try:
            events = await self._session.subagents.events(self._child_id)
        except UserError as error:
            self.app.notify(str(error), markup=False)
            return
        self._show(list(child_entries(events)))

    def _show(self, entries: list[Entry]) -> None:
        text = "\n\n".join(entry.source for entry in entries)
        if not self._entries:
            self.pager.show(entries, text)
        else:
            self.pager.grow(entries, text)
        self._entries = entries


NO_JOBS = "There are no background jobs."


class JobsScreen(LivePicker):
    """`read` opens the output of a job in the pager."""

    BINDINGS = bindings(Context.JOBS)
    help_context = Context.JOBS
    heading = "Background jobs"
    hints = (("Enter", "read output"), ("x x", "stop"), ("/", "filter"), ("Esc", "close"))

    def __init__(self, chrome: Chrome, jobs: BackgroundJobs, read: Callable[[str, str], None]) -> None:
        super().__init__(chrome)
        self._jobs = jobs
        self._read = read

    def subscribe(self) -> Callable[[], None]:
        return self._jobs.watch(self.reload)

    def reload(self) -> None:
        """Show all jobs, the newest first."""
        self.list.show([self._item(state) for state in reversed(self._jobs.states())], empty=NO_JOBS)

    def choose(self, item: Item) -> None:
        output = self._jobs.output(item.key)
        self._read(f"{item.key}  {item.label}", output or "(no output yet)")

    def action_stop(self) -> None:
        item = self.list.marked
        if item is None:
            return
        if not item.is_ready:
            self.show_note("This job has already ended.")
        elif self.pressed_twice(item.key, f"Press x again to stop {item.key}."):
            self.show_note(f"Stopping {item.key}{self.chrome.more}")
            self.run_worker(self._stop(item.key), group="jobs")

    async def _stop(self, job_id: str) -> None:
        try:
            await self._jobs.stop(job_id)
        except UserError as error:
            self.show_note(str(error), "$text-error")

    def _item(self, state: JobState) -> Item:
        if state.is_running:
            words = f"{self.chrome.running} running"
        elif state.exit_code == 0:
            words = f"{self.chrome.ok} exit 0"
        else:
            words = f"{self.chrome.failed} exit {state.exit_code}"
        return Item(
            key=state.id,
            label=safe_line(state.command),
            lead=state.id,
            details=(how_long(state.seconds), words),
            note=safe_line(state.command),
            is_ready=state.is_running,
        )


def how_long(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
