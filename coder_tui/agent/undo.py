"""Takes turns back and makes them again: files, conversation or both; what the person changed since stays."""

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from coder_tui.agent.past import Past
from coder_tui.agent.rest import Rest
from coder_tui.agent.review import name_of
from coder_tui.agent.to_the_end import to_the_end
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.events import FilesChanged
from coder_tui.protocol.messages import Attachment
from coder_tui.storage.sessions import TurnRecord
from coder_tui.workspace.restore import NOT_EMPTY
from coder_tui.workspace.snapshots import Restored
from coder_tui.workspace.undone_files import BroughtOut

if TYPE_CHECKING:  # the session holds this desk
    from coder_tui.agent.session import SessionParts

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
