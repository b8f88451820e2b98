"""Sub-agents of the session: read what one said and did, or stop one alone.

A sub-agent's conversation on a page, which grows while the agent works.
"""

from collections.abc import Callable, Collection
from typing import ClassVar

from coder_tui.agent.session import Session
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
from coder_tui.protocol.subagents import ChildLine, ChildState
from coder_tui.ui.draw.block_subagents import cost_words
from coder_tui.ui.draw.entries import Entry
from coder_tui.ui.draw.glyphs import Glyphs
from coder_tui.ui.draw.whole import child_entries
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.lists.fuzzy_list import Item
from coder_tui.ui.lists.picker import Hint, PickerScreen
from coder_tui.ui.motion import Pacer
from coder_tui.ui.transcript.pager import PagerScreen

NONE_YET = "No agent was asked for help yet."
IS_OVER = "It does not run any more."
STOPPED = "It was stopped; the others go on."


class SubagentsScreen(PickerScreen):
    """Rows follow what happens; `only` leaves out those of other calls."""

    BINDINGS = bindings(Context.SUBAGENTS)
    help_context = Context.SUBAGENTS
    heading = "Sub-agents"
    types_at_once = False
    hints: ClassVar[tuple[Hint, ...]] = (
        ("Enter", "read"),
        ("x", "stop it"),
        ("/", "filter"),
        ("Esc", "close"),
    )

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
        self._unsubscribe = session.subscribe(self._hear)

    def fill(self) -> None:
        self.list.show((), empty=f"Looking{self.chrome.more}")
        self._reload()

    def choose(self, item: Item) -> None:
        self._read(self._lines[item.key])

    def on_unmount(self) -> None:
        self._unsubscribe()

    def action_stop(self) -> None:
        if (item := self.list.marked) is not None:
            is_stopped = self._session.subagents.stop(item.key)
            self.say(STOPPED if is_stopped else IS_OVER, "$text-warning")

    def _hear(self, event: Event) -> None:
        """Pieces of text change no row."""
        is_piece = isinstance(event, SubagentEvent) and isinstance(
            event.event, TextDelta | ThinkingDelta | ToolProposed
        )
        if isinstance(event, SubagentEvent) and not is_piece and self.is_mounted:
            self._pacer.request()

    def _reload(self) -> bool:
        self.run_worker(self._load(), exclusive=True, group="children")
        return False

    async def _load(self) -> None:
        try:
            lines = await self._session.subagents.lines()
        except UserError as error:
            self.say(str(error), "$text-error")
            return
        shown = [line for line in lines if self._only is None or line.child_id in self._only]
        is_first = not self._lines
        self._lines = {line.child_id: line for line in shown}
        marked = _most_wanted(shown) if is_first else None
        self.list.show([self._item(line) for line in shown], marked, empty=NONE_YET)

    def _item(self, line: ChildLine) -> Item:
        news = first_line(line.summary) if line.state.is_over else line.doing
        seconds = f"{line.seconds}s" if line.seconds else ""
        return Item(
            key=line.child_id,
            label=f"{line.agent}  {line.task}",
            lead=f"{_sign(line.state, self.chrome)} {line.state}",
            details=(seconds, cost_words(line.cost)),
            note=news or line.task,
            also=line.summary,
        )


def _most_wanted(lines: list[ChildLine]) -> str | None:
    """The first that still works, else the newest."""
    running = (line.child_id for line in lines if not line.state.is_over)
    return next(running, lines[-1].child_id if lines else None)


def _sign(state: ChildState, chrome: Chrome) -> str:
    return {
        ChildState.QUEUED: chrome.pending,
        ChildState.RUNNING: chrome.running,
        ChildState.WAITING: chrome.waiting,
        ChildState.OK: chrome.ok,
        ChildState.FAILED: chrome.failed,
        ChildState.STOPPED: chrome.stopped,
    }[state]


class ChildPage(PagerScreen):
    """Entries keep their places: a call that ends changes where it stands, what is new comes below."""

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
        self._unsubscribe = session.subscribe(self._hear)

    def on_mount(self) -> None:
        super().on_mount()
        self._reload()

    def on_unmount(self) -> None:
        self._unsubscribe()

    def _hear(self, event: Event) -> None:
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
            self.show(entries, text)
        else:
            self.grow(entries, text)
        self._entries = entries
