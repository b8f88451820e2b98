"""Takes turns back and makes them again: files, conversation or both; what the person changed since stays.

Makes forks of a session: all that was said, or what was said before one message.

What rearranges a session needs it at rest: a message that is sent meanwhile waits for the end of that.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from coder_tui.agent.title import SessionState
from coder_tui.agent.undo.replay import Past
from coder_tui.agent.undo.review import name_of
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.events import FilesChanged
from coder_tui.protocol.messages import Attachment, UserMessage
from coder_tui.storage.store import SessionInfo, TurnRecord
from coder_tui.tasks import to_the_end
from coder_tui.workspace.undo.changed_files import BroughtOut
from coder_tui.workspace.undo.restore import NOT_EMPTY
from coder_tui.workspace.undo.snapshots import Restored

if TYPE_CHECKING:
    from coder_tui.agent.session import SessionParts


BUSY = "The agent is working; stop it first (Esc)."
CLOSED = "This session is closed."
_PATIENCE = 5.0


class Rest:
    """Of one session. Who waits is let in in order: what is sent during an undo begins its turn after it."""

    def __init__(self, is_in_turn: Callable[[], bool]) -> None:
        self._is_in_turn = is_in_turn
        self.door = asyncio.Lock()
        self.is_over = False
        """Whether nothing may begin any more."""

    @property
    def is_held(self) -> bool:
        return self.door.locked()

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """No turn begins before the block has ended; `UserError` where one runs."""
        self._require()
        async with self.door:
            # A message may have waited longer, and have begun its turn.
            self._require()
            yield

    async def end(self) -> None:
        """Let what is under way come to its end, for a while; what waits behind it does not begin."""
        self.is_over = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE), self.door:
                return

    def _require(self) -> None:
        if self.is_over:
            raise UserError(CLOSED)
        if self._is_in_turn():
            raise UserError(BUSY)


NOTHING_TO_UNDO = "There is nothing to undo."
NOTHING_KEPT = "No file was taken back that had changed while a command ran."
NOTHING_TO_REDO = "There is nothing to redo."


class Reach(StrEnum):
    """What of a turn is taken back."""

    BOTH = "both"
    FILES = "files"
    CONVERSATION = "conversation"

    @property
    def has_files(self) -> bool:
        return self is not Reach.CONVERSATION

    @property
    def has_words(self) -> bool:
        return self is not Reach.FILES


@dataclass(frozen=True, slots=True)
class Moved:
    """A turn that was taken back or made again; names are relative to the folder, a folder's end in `/`."""

    turn: int
    text: str
    reach: Reach
    paths: tuple[str, ...] = ()
    conflicts: tuple[tuple[str, str], ...] = ()
    uncovered: str = ""
    seen: tuple[str, ...] = ()
    """Files that were taken back and changed while a command ran: perhaps by the person."""


class UndoDesk:
    """Serves one session. Undoing several turns is done one by one, the newest first."""

    def __init__(self, parts: "SessionParts", past: Past, rest: Rest) -> None:
        self._session_id = parts.info.id
        self._store = parts.store
        self._changes = parts.changes
        self._bus = parts.bus
        self._held = parts.services.held
        self._root = Path(parts.info.directory)
        self._todos = parts.todos
        self._past = past
        self._rest = rest

    async def undo(self, reach: Reach = Reach.BOTH) -> Moved:
        """Take the newest turn back; `UserError` when there is none."""
        async with self._rest.held():
            return await to_the_end(self._undo(reach))

    async def redo(self, reach: Reach = Reach.BOTH) -> Moved:
        """Make the turn again that was taken back last."""
        async with self._rest.held():
            return await to_the_end(self._redo(reach))

    async def _undo(self, reach: Reach) -> Moved:
        turns = await self._store.turns(self._session_id)
        turn = await self._newest(turns, reach)
        restored, uncovered = Restored((), ()), ""
        if reach.has_files:
            restored = await self._changes.restore(turn.turn)
            uncovered = await self._changes.watch.uncovered(turn.turn)
            # Later turns whose words went before had their files until now.
            for each in turns[turns.index(turn) :]:
                await self._store.mark_files(self._session_id, each.turn, undone=True)
        if reach.has_words:
            await self._store.unsay(self._session_id, turn.turn, self._todos())
            await self._past.reload()
        told = "were taken back by the person, to how they were before"
        seen = tuple(name_of(path, self._root) for path in restored.seen)
        return replace(self._moved(turn, reach, restored, told), uncovered=uncovered, seen=seen)

    async def bring_out(self, turn: int) -> BroughtOut:
        """Write the files that undos from a turn on took back, and that a person may miss, to a folder."""
        found = await self._changes.bring_out(turn, self._root)
        if not found.names and not found.missing:
            raise UserError(NOTHING_KEPT)
        return found

    async def _redo(self, reach: Reach) -> Moved:
        turns = await self._store.turns(self._session_id)
        candidates = [turn for turn in turns if _can_redo(turn, reach)]
        if not candidates:
            raise UserError(NOTHING_TO_REDO)
        turn = candidates[0]
        restored = Restored((), ())
        if reach.has_files and turn.are_files_undone:
            restored = await self._changes.redo(turn.turn)
            await self._store.mark_files(self._session_id, turn.turn, undone=False)
        if reach.has_words and turn.is_said_undone:
            await self._store.say_again(self._session_id, turn.turn)
            await self._past.reload()
        return self._moved(turn, reach, restored, "were made again by the person")

    async def _newest(self, turns: tuple[TurnRecord, ...], reach: Reach) -> TurnRecord:
        # From the end: in a long session it takes its time to look at all of them.
        for turn in reversed(turns):
            if await self._can_undo(turn, reach):
                return turn
        raise UserError(NOTHING_TO_UNDO)

    async def _can_undo(self, turn: TurnRecord, reach: Reach) -> bool:
        if reach is not Reach.FILES:
            return not turn.is_said_undone
        return not turn.are_files_undone and await self._changes.has_effect(turn.turn)

    def _moved(self, turn: TurnRecord, reach: Reach, restored: Restored, told: str) -> Moved:
        paths = tuple(name_of(path, self._root) for path in restored.paths)
        if paths:
            self._bus.publish(FilesChanged(paths))
        paths = tuple(
            f"{name}/" if path in restored.folders else name
            for path, name in zip(restored.paths, paths, strict=True)
        )
        if paths and not reach.has_words:
            # The conversation still speaks of these changes.
            words = f"The changes of an earlier turn {told}: {', '.join(paths)}"
            self._held.hold(Attachment("undo", words))
        # A folder that the turn made stays where something else lies in it by now: nothing is lost by that.
        told_of = (each for each in restored.conflicts if each.reason != NOT_EMPTY)
        conflicts = tuple((name_of(each.path, self._root), each.reason) for each in told_of)
        return Moved(turn.turn, turn.text, reach, paths, conflicts)


def _can_redo(turn: TurnRecord, reach: Reach) -> bool:
    return (reach.has_files and turn.are_files_undone) or (reach.has_words and turn.is_said_undone)


NOTHING_SAID = "There is nothing to fork yet."
GONE = "That message is no longer part of the session."


@dataclass(frozen=True, slots=True)
class Forked:
    """`told` is what a person should know of it."""

    session_id: str
    told: str


class ForkDesk:
    """Serves one session, which stays as it is; whoever asks for a fork opens it."""

    def __init__(self, parts: "SessionParts", is_busy: Callable[[], bool]) -> None:
        self._session_id = parts.info.id
        self._state: SessionState = parts.state
        self._store = parts.store
        self._conversation = parts.services.conversation
        self._is_busy = is_busy
        self._unused_at = -1

    @property
    def is_unused(self) -> bool:
        """Whether this session is a fork that nobody asked for, and nothing was sent in it yet."""
        return self._unused_at == self._state.turn

    def keep_once_used(self) -> None:
        self._unused_at = self._state.turn

    def words_of(self, message_id: str) -> str:
        """What the person wrote; `UserError` where that is taken back."""
        for message in self._conversation.backwards:
            if isinstance(message, UserMessage) and message.id == message_id:
                return message.text
        raise UserError(GONE)

    async def fork(self, before: str = "") -> Forked:
        """All of the session, or what was said before the message of this id."""
        if self._is_busy():
            raise UserError(BUSY)
        if self._conversation.is_empty:
            raise UserError(NOTHING_SAID)
        info = await self._store.fork(self._session_id, before)
        return Forked(info.id, told(self._session_id, info))


def told(session_id: str, fork: SessionInfo) -> str:
    """What is said in a fork before anything else."""
    return (
        f"This is “{fork.title}”. The session itself stays as it is; /resume {session_id} goes back to it.\n"
        "Files are as they are now; /undo in the old session takes them back."
    )
