"""Undo and redo turns: files, conversation or both. What the user has changed since then stays.

Fork a session: all of its conversation, or what came before one message.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from coder_tui.agent.context.conversation import Conversation
from coder_tui.agent.pending import HeldAttachments
from coder_tui.agent.session_state import BUSY, SessionContext
from coder_tui.agent.undo.file_changes import SessionChanges
from coder_tui.agent.undo.replay import DisplayHistory
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.messages import Attachment, UserMessage
from coder_tui.storage.store import SessionInfo, TurnRecord
from coder_tui.tasks import finish_despite_cancel
from coder_tui.tools.builtin.todo import TodoList
from coder_tui.workspace.files.confine import relative_name
from coder_tui.workspace.undo.changed_files import ExportedFiles
from coder_tui.workspace.undo.restore import NOT_EMPTY
from coder_tui.workspace.undo.snapshots import Restored

NOTHING_TO_UNDO = "There is nothing to undo."
NOTHING_KEPT = "Undo removed no file that had changed while a command ran."
NOTHING_TO_REDO = "There is nothing to redo."


class UndoScope(StrEnum):
    """What to undo of a turn."""

    BOTH = "both"
    FILES = "files"
    CONVERSATION = "conversation"

    @property
    def has_files(self) -> bool:
        return self is not UndoScope.CONVERSATION

    @property
    def has_messages(self) -> bool:
        return self is not UndoScope.FILES


@dataclass(frozen=True, slots=True)
class UndoResult:
    """A turn that was undone or redone. Names are relative to the folder; those of folders end in `/`."""

    turn: int
    text: str
    scope: UndoScope
    paths: tuple[str, ...] = ()
    conflicts: tuple[tuple[str, str], ...] = ()
    uncovered: str = ""
    seen: tuple[str, ...] = ()
    """Restored files that had changed while a command ran, perhaps by the user."""


@dataclass(frozen=True, slots=True)
class TurnUndo:
    """Undoes the turns of one session, one at a time, the newest first."""

    context: SessionContext
    history: DisplayHistory
    changes: SessionChanges
    todos: TodoList
    held: HeldAttachments
    report_changes: Callable[[tuple[str, ...]], None]

    async def undo(self, scope: UndoScope = UndoScope.BOTH) -> UndoResult:
        """Undo the newest turn; raise `UserError` if there is none."""
        async with self.context.lock.exclusive():
            return await finish_despite_cancel(self._undo(scope))

    async def redo(self, scope: UndoScope = UndoScope.BOTH) -> UndoResult:
        """Redo the turn that was undone last."""
        async with self.context.lock.exclusive():
            return await finish_despite_cancel(self._redo(scope))

    async def _undo(self, scope: UndoScope) -> UndoResult:
        turns = await self.context.store.turns.list(self.context.id)
        turn = await self._newest(turns, scope)
        restored, uncovered = Restored((), ()), ""
        if scope.has_files:
            restored = await self.changes.restore(turn.turn)
            uncovered = await self.changes.commands.uncovered(turn.turn)
            # Later turns whose messages were undone before still had their files until now.
            for each in turns[turns.index(turn) :]:
                await self.context.store.turns.mark_files(self.context.id, each.turn, undone=True)
        if scope.has_messages:
            await self.context.store.turns.hide_messages(self.context.id, turn.turn, self.todos.items)
            await self.history.reload()
        change = "were undone by the user"
        seen = tuple(relative_name(path, self.context.directory) for path in restored.seen)
        return replace(self._result(turn, scope, restored, change), uncovered=uncovered, seen=seen)

    async def export_undone(self, turn: int) -> ExportedFiles:
        """Write files that undo removed from a turn on, and that the user may miss, to a folder."""
        found = await self.changes.export_undone(turn, self.context.directory)
        if not found.names and not found.missing:
            raise UserError(NOTHING_KEPT)
        return found

    async def _redo(self, scope: UndoScope) -> UndoResult:
        turns = await self.context.store.turns.list(self.context.id)
        candidates = [turn for turn in turns if _can_redo(turn, scope)]
        if not candidates:
            raise UserError(NOTHING_TO_REDO)
        turn = candidates[0]
        restored = Restored((), ())
        if scope.has_files and turn.are_files_undone:
            restored = await self.changes.redo(turn.turn)
            await self.context.store.turns.mark_files(self.context.id, turn.turn, undone=False)
        if scope.has_messages and turn.is_said_undone:
            await self.context.store.turns.show_messages(self.context.id, turn.turn)
            await self.history.reload()
        return self._result(turn, scope, restored, "were redone by the user")

    async def _newest(self, turns: tuple[TurnRecord, ...], scope: UndoScope) -> TurnRecord:
        # From the end: to look at all turns of a long session takes too long.
        for turn in reversed(turns):
            if await self._can_undo(turn, scope):
                return turn
        raise UserError(NOTHING_TO_UNDO)

    async def _can_undo(self, turn: TurnRecord, scope: UndoScope) -> bool:
        if scope is not UndoScope.FILES:
            return not turn.is_said_undone
        return not turn.are_files_undone and await self.changes.has_effect(turn.turn)

    def _result(self, turn: TurnRecord, scope: UndoScope, restored: Restored, change: str) -> UndoResult:
        paths = tuple(relative_name(path, self.context.directory) for path in restored.paths)
        if paths:
            self.report_changes(paths)
        paths = tuple(
            f"{name}/" if path in restored.folders else name
            for path, name in zip(restored.paths, paths, strict=True)
        )
        if paths and not scope.has_messages:
            # The conversation still mentions these changes.
            words = f"The changes of an earlier turn {change}: {', '.join(paths)}"
            self.held.hold(Attachment("undo", words))
        # A folder that the turn made stays if something else is in it by now: nothing is lost by that.
        shown = (each for each in restored.conflicts if each.reason != NOT_EMPTY)
        conflicts = tuple((relative_name(each.path, self.context.directory), each.reason) for each in shown)
        return UndoResult(turn.turn, turn.text, scope, paths, conflicts)


def _can_redo(turn: TurnRecord, scope: UndoScope) -> bool:
    return (scope.has_files and turn.are_files_undone) or (scope.has_messages and turn.is_said_undone)


NOTHING_SAID = "There is nothing to fork yet."
GONE = "That message is no longer part of the session."


@dataclass(frozen=True, slots=True)
class Forked:
    """`notice` is shown in the fork."""

    session_id: str
    notice: str


@dataclass(eq=False, slots=True)
class SessionForks:
    """Makes forks of one session, which itself stays as it is; the caller opens the fork."""

    context: SessionContext
    conversation: Conversation
    _unused_at: int = field(default=-1, init=False)

    @property
    def is_unused(self) -> bool:
        """Whether this session is a fork that nobody asked for, in which nothing was sent yet."""
        return self._unused_at == self.context.state.turn

    def keep_once_used(self) -> None:
        self._unused_at = self.context.state.turn

    def text_of(self, message_id: str) -> str:
        """Return a message of the user; raise `UserError` if it was undone."""
        for message in self.conversation.backwards:
            if isinstance(message, UserMessage) and message.id == message_id:
                return message.text
        raise UserError(GONE)

    async def fork(self, before: str = "") -> Forked:
        """Copy the session, or what came before the message with this id."""
        if self.context.lock.is_busy:
            raise UserError(BUSY)
        if self.conversation.is_empty:
            raise UserError(NOTHING_SAID)
        info = await self.context.store.forks.create(self.context.id, before)
        return Forked(info.id, fork_notice(self.context.id, info))


def fork_notice(session_id: str, fork: SessionInfo) -> str:
    """Return the first notice of a fork."""
    return (
        f"This is “{fork.title}”. The original session is unchanged; /resume {session_id} goes back to it.\n"
        "Files stay as they are now; /undo in the original session restores them."
    )
