"""The façade that a front end holds: submit, interrupt, answer, change mode or model."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from coder_tui.agent.attachments.git_state import HasChanges, no_changes
from coder_tui.agent.calls.permissions import PermissionDesk
from coder_tui.agent.context.compaction import CompactionDesk
from coder_tui.agent.diagnostics.lookup import Lookup, NoLookup
from coder_tui.agent.event_bus import EventBus, Listener
from coder_tui.agent.mcp_session import McpDesk, no_servers
from coder_tui.agent.model_switch import ModelSwitch
from coder_tui.agent.pending import MessageQueue
from coder_tui.agent.profiles.switch import ProfileSwitch
from coder_tui.agent.remember import Remembering
from coder_tui.agent.request_broker import RequestBroker
from coder_tui.agent.session_report import SessionFacts, SessionRecord
from coder_tui.agent.subagents import ChildDesk, NoChildren
from coder_tui.agent.title import SessionName, SessionState, TitleWriter
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.agent.turn.turn import TurnPlayer, TurnServices
from coder_tui.agent.undo.file_changes import SessionChanges
from coder_tui.agent.undo.replay import Past
from coder_tui.agent.undo.review import ReviewDesk
from coder_tui.agent.undo.undo import ForkDesk, Rest, UndoDesk
from coder_tui.agent.user_shell import JobDesk, PersonShell
from coder_tui.agent.verify.verify import Verifier
from coder_tui.config.trust import NoVouching, Vouching
from coder_tui.protocol.access import Mode
from coder_tui.protocol.events import (
    Event,
    ModelChanged,
    Notice,
    ProfileChanged,
    SessionStarted,
    TodosChanged,
    TurnFinished,
)
from coder_tui.protocol.outcomes import NoticeLevel, TurnOutcome
from coder_tui.protocol.requests import Reply, cancels_turn
from coder_tui.protocol.todos import TodoItem
from coder_tui.shell.jobs import JobTable
from coder_tui.skills.command_files import CommandShelf, no_commands
from coder_tui.skills.session_skills import SkillShelf, no_skills
from coder_tui.storage.store import SessionInfo, Store
from coder_tui.tasks import Background
from coder_tui.workspace.undo.changed_files import ChangedFile


@dataclass(frozen=True, slots=True)
class SessionParts:
    """The collaborators that bootstrap puts together."""

    info: SessionInfo
    store: Store
    bus: EventBus
    broker: RequestBroker
    desk: PermissionDesk
    queue: MessageQueue
    state: SessionState
    services: TurnServices
    titles: TitleWriter
    changes: SessionChanges
    compaction: CompactionDesk
    verifier: Verifier
    profiles: ProfileSwitch
    earlier: tuple[Event, ...] = ()
    todos: Callable[[], tuple[TodoItem, ...]] = tuple
    take_todos: Callable[[tuple[TodoItem, ...]], None] = lambda items: None
    subagents: ChildDesk = field(default_factory=NoChildren)
    skills: SkillShelf = field(default_factory=no_skills)
    commands: CommandShelf = field(default_factory=no_commands)
    mcp: McpDesk = field(default_factory=no_servers)
    lookup: Lookup = field(default_factory=NoLookup)
    vouching: Vouching = field(default_factory=NoVouching)
    jobs: JobDesk = field(default_factory=lambda: JobDesk(JobTable()))
    has_git_changes: HasChanges = no_changes
    is_kept: bool = True
    is_confined: bool = True


class Session:
    """One conversation in one folder. All methods belong to one event loop."""

    def __init__(self, parts: SessionParts) -> None:
        self._parts = parts
        self._bus = parts.bus
        self._state = parts.state
        self._task: asyncio.Task[None] | None = None
        self._is_stopping = False
        self.notices: list[Notice] = []
        self._background = Background()
        self._name = SessionName(
            parts.info.id, parts.store, parts.bus, parts.state, parts.titles, self._background
        )
        self._switch = ModelSwitch(parts.info.id, parts.store, parts.state, parts.services, self._background)
        self.profiles = parts.profiles
        parts.services.cap.switch_by(self._switch.use_now)
        parts.profiles.listen(lambda profile: self._switch.follow(profile, is_busy=self._is_in_turn))
        self._player = TurnPlayer(parts.services, self._name, partial(parts.store.begin_turn, self.id))
        self.record = SessionRecord(
            parts.info.id, parts.store, parts.services.conversation, parts.services.meter
        )
        self._closers: list[Callable[[], Awaitable[None]]] = []
        self.facts = SessionFacts(parts)
        self.subagents = parts.subagents
        self.held = parts.services.held
        self.permissions = parts.desk
        self.shell = PersonShell(parts)
        self.remembering = Remembering(parts)
        self.jobs = parts.jobs
        self.lookup = parts.lookup
        self.mcp = parts.mcp
        self.has_git_changes = parts.has_git_changes
        self.review = ReviewDesk(parts.changes, parts.bus, self.directory)
        self.compaction = parts.compaction
        self.verifier = parts.verifier
        self._past = Past(parts)
        self.rest = Rest(lambda: self._is_in_turn)
        self.turns = UndoDesk(parts, self._past, self.rest)
        self.forks = ForkDesk(parts, lambda: self.is_busy)

    @property
    def id(self) -> str:
        return self._parts.info.id

    @property
    def directory(self) -> Path:
        return Path(self._parts.info.directory)

    @property
    def title(self) -> str:
        return self._state.title

    @property
    def mode(self) -> Mode:
        return self._parts.desk.mode

    @property
    def model(self) -> str:
        return self._state.model

    @property
    def is_kept(self) -> bool:
        """Whether it can be resumed: the demo's store goes away with it, and so does an unused fork."""
        return self._parts.is_kept and not self.forks.is_unused

    @property
    def is_busy(self) -> bool:
        return self._is_in_turn or self.rest.is_held

    @property
    def _is_in_turn(self) -> bool:
        return self._task is not None and not self._task.done()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        return self._bus.subscribe(listener)

    def history(self) -> tuple[Event, ...]:
        """Events that build the screen of this session as it stands."""
        info, meter = self._parts.info, self._parts.services.meter
        started = SessionStarted(
            info.id,
            self.title,
            info.directory,
            self.model,
            self.mode,
            bool(self._past.events),
            self._parts.is_confined,
        )
        return (
            started,
            ModelChanged(self.model, meter.context_window),
            ProfileChanged(self.profiles.current.name),
            *self._past.events,
            *self.notices,
            TodosChanged(self._parts.todos()),
            meter.snapshot(),
        )

    async def submit(self, text: str) -> None:
        """Run a turn to its end; while one runs the text is queued and goes out at its next step."""
        # An undo that is at work would take back what is said in the middle of it.
        async with self.rest.door:
            if self.rest.is_over:
                return
            if self._is_in_turn:
                self._parts.queue.put(text)
                return
            self._is_stopping = False
            self._task = task = asyncio.create_task(self._run_turn(text))
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            self.interrupt()
            await asyncio.wait({task})
            raise
        if task.cancelled():
            # Stopped before its first step: nothing was stored, so the text is still the person's.
            self._bus.publish(TurnFinished(self._state.turn, TurnOutcome.INTERRUPTED, "", 0))

    def interrupt(self) -> bool:
        """Stop the running turn; False when there is none."""
        if self._task is None or self._task.done():
            return False
        if not self._is_stopping:
            self._is_stopping = True
            self._task.cancel()
        return True

    def take_queue(self) -> tuple[str, ...]:
        return self._parts.queue.take()

    def answer(self, request_id: str, reply: Reply) -> None:
        # Where no turn runs the person themselves began it, by a command.
        if not (cancels_turn(reply) and self.interrupt()):
            self._parts.broker.answer(request_id, reply)

    @property
    def turn(self) -> int:
        """The number of the running turn, or of the last one."""
        return self._state.turn

    async def changed_files(self, since_turn: int = 1) -> tuple[ChangedFile, ...]:
        """What tools of this session did to each file; with the running turn's number, what it did."""
        return await self._parts.changes.files(since_turn)

    def set_mode(self, mode: Mode) -> None:
        """Plan mode brings its profile along, and takes it with it."""
        self.profiles.set_mode(mode)

    def set_model(self, choice: ModelChoice, context_window: int | None) -> None:
        """Ask this model from the next turn on."""
        self._switch.ask_for(choice, context_window)
        if not self._is_in_turn:
            self._switch.settle()

    async def rename(self, title: str) -> None:
        await self._name.rename(title)

    def set_context_window(self, tokens: int | None) -> None:
        self._parts.services.meter.context_window = tokens
        self._bus.publish(ModelChanged(self.model, tokens))

    def notice(self, level: NoticeLevel, text: str) -> None:
        """Tell the person something; who subscribes later finds it in the history."""
        notice = Notice(level, text)
        self.notices.append(notice)
        self._bus.publish(notice)

    def on_close(self, closer: Callable[[], Awaitable[None]]) -> None:
        """What was opened for this session alone is closed with it."""
        self._closers.append(closer)

    async def close(self) -> None:
        """Stop what runs and let go of the store's claim on this session."""
        if self._task is not None and self.interrupt():
            await asyncio.wait({self._task})
        await self.rest.end()
        await self._background.close()
        await self._parts.store.release(self.id)
        for closer in self._closers:
            await closer()

    async def _run_turn(self, text: str) -> None:
        self._switch.settle()
        # Counted once it really begins: a number belongs to a message that is stored.
        self._state.turn += 1
        await self._player.play(self._state.turn, text)
