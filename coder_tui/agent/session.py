"""The façade for front ends: submit a message, interrupt, answer requests, change mode or model."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from coder_tui.agent.attachments.files import HasChanges
from coder_tui.agent.calls.permissions import Permissions
from coder_tui.agent.context.compaction import Compactor
from coder_tui.agent.diagnostics.lookup import CodeLookup
from coder_tui.agent.event_bus import Listener, RequestBroker
from coder_tui.agent.mcp_session import SessionMcp
from coder_tui.agent.pending import Inbox
from coder_tui.agent.profiles.switch import ProfileSwitch
from coder_tui.agent.remember import InstructionWriter
from coder_tui.agent.session_report import SessionReport
from coder_tui.agent.session_state import ModelSwitch, SessionContext, TurnLock
from coder_tui.agent.subagents import Subagents
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.agent.turn.turn import TurnRunner
from coder_tui.agent.undo.file_changes import SessionChanges
from coder_tui.agent.undo.review import ChangeReview
from coder_tui.agent.undo.undo import SessionForks, TurnUndo
from coder_tui.agent.user_shell import BackgroundJobs, UserShell
from coder_tui.agent.verify import Verifier
from coder_tui.protocol.access import Mode
from coder_tui.protocol.events import (
    Event,
    ModelChanged,
    ProfileChanged,
    SessionStarted,
    TodosChanged,
    TurnFinished,
)
from coder_tui.protocol.outcomes import NoticeLevel, TurnOutcome
from coder_tui.protocol.requests import Reply, cancels_turn
from coder_tui.workspace.undo.changed_files import ChangedFile


@dataclass(eq=False, kw_only=True)
class Session:
    """One conversation in one folder. All methods belong to one event loop.

    `bootstrap/session_factory.py` builds it; front ends use the parts directly.
    """

    context: SessionContext
    runner: TurnRunner
    models: ModelSwitch
    broker: RequestBroker
    permissions: Permissions
    profiles: ProfileSwitch
    changes: SessionChanges
    turns: TurnUndo
    review: ChangeReview
    forks: SessionForks
    shell: UserShell
    jobs: BackgroundJobs
    instructions: InstructionWriter
    compaction: Compactor
    verifier: Verifier
    subagents: Subagents
    mcp: SessionMcp
    lookup: CodeLookup
    report: SessionReport
    has_git_changes: HasChanges
    is_stored: bool = True
    """Whether the store outlives the session; the demo's does not."""
    is_confined: bool = True
    """Whether commands run in a sandbox."""
    _closers: list[Callable[[], Awaitable[None]]] = field(default_factory=list, init=False)
    _is_stopping: bool = field(default=False, init=False)

    @property
    def id(self) -> str:
        return self.context.id

    @property
    def directory(self) -> Path:
        return self.context.directory

    @property
    def title(self) -> str:
        return self.context.state.title

    @property
    def mode(self) -> Mode:
        return self.permissions.mode

    @property
    def model(self) -> str:
        return self.context.state.model

    @property
    def turn(self) -> int:
        """The number of the running turn, or of the last one."""
        return self.context.state.turn

    @property
    def lock(self) -> TurnLock:
        return self.context.lock

    @property
    def inbox(self) -> Inbox:
        return self.runner.services.inbox

    @property
    def is_kept(self) -> bool:
        """Whether it can be resumed; neither the demo nor an unused fork can."""
        return self.is_stored and not self.forks.is_unused

    @property
    def is_busy(self) -> bool:
        return self.lock.is_busy

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        return self.context.bus.subscribe(listener)

    def history(self) -> tuple[Event, ...]:
        """Return the events that build the screen of this session as it is now."""
        info, meter, earlier = self.context.info, self.report.context.meter, self.turns.history.events
        started = SessionStarted(
            info.id, self.title, info.directory, self.model, self.mode, bool(earlier), self.is_confined
        )
        return (
            started,
            ModelChanged(self.model, meter.context_window),
            ProfileChanged(self.profiles.current.name),
            *earlier,
            *self.context.notices,
            TodosChanged(self.turns.todos.items),
            meter.snapshot(),
        )

    async def submit(self, text: str) -> None:
        """Run a turn to its end. If one runs already, queue the text for its next step."""
        # During an undo the message waits, or the undo would remove it.
        async with self.lock.mutex:
            if self.lock.is_closed:
                return
            if self.lock.is_in_turn:
                self.inbox.queue.put(text)
                return
            self._is_stopping = False
            self.lock.task = task = asyncio.create_task(self._run_turn(text))
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            self.interrupt()
            await asyncio.wait({task})
            raise
        if task.cancelled():
            # Stopped before its first step: nothing was stored, so the front end gets the text back.
            self.context.bus.publish(TurnFinished(self.turn, TurnOutcome.INTERRUPTED, "", 0))

    def interrupt(self) -> bool:
        """Stop the running turn; return False if there is none."""
        task = self.lock.task
        if task is None or task.done():
            return False
        if not self._is_stopping:
            self._is_stopping = True
            task.cancel()
        return True

    def withdraw_queued(self) -> tuple[str, ...]:
        """Remove and return the messages that were not sent yet."""
        return self.inbox.queue.take_all()

    def answer(self, request_id: str, reply: Reply) -> None:
        # If no turn runs, the user's own command asked, and there is no turn to cancel.
        if not (cancels_turn(reply) and self.interrupt()):
            self.broker.answer(request_id, reply)

    async def changed_files(self, since_turn: int = 1) -> tuple[ChangedFile, ...]:
        """Return what tools did to each file since a turn; since the running turn, what that one did."""
        return await self.changes.files(since_turn)

    def set_mode(self, mode: Mode) -> None:
        """Change the mode. Plan mode comes and goes with its own profile."""
        self.profiles.set_mode(mode)

    def set_model(self, choice: ModelChoice, context_window: int | None) -> None:
        """Use this model from the next turn on."""
        self.models.use_next(choice, context_window)

    async def rename(self, title: str) -> None:
        await self.runner.name.rename(title)

    def set_context_window(self, tokens: int | None) -> None:
        self.models.set_context_window(tokens)

    def notice(self, level: NoticeLevel, text: str) -> None:
        self.context.notice(level, text)

    def on_close(self, closer: Callable[[], Awaitable[None]]) -> None:
        """Close something with this session that was opened for it alone."""
        self._closers.append(closer)

    async def close(self) -> None:
        """Stop what runs, and release the store's claim on this session."""
        if self.lock.task is not None and self.interrupt():
            await asyncio.wait({self.lock.task})
        await self.lock.close()
        await self.context.background.close()
        await self.context.store.sessions.release(self.id)
        for closer in self._closers:
            await closer()

    async def _run_turn(self, text: str) -> None:
        self.models.apply()
        # Counted once it really begins: a number belongs to a message that is stored.
        self.context.state.turn += 1
        await self.runner.run(self.turn, text)
