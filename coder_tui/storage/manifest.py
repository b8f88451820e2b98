"""Which files each turn changed, with their states before and after, for undo."""

import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from coder_tui.storage.database import Table, read_all
from coder_tui.storage.records import pack_text, unpack_text
from coder_tui.storage.turns import turn_in_effect


class FileKind(StrEnum):
    ABSENT = "absent"
    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class FileState:
    """What is at a path. `content` is the hash of a file's bytes or of a link's target.

    `mode` applies to files and folders; a folder's is 0 if it was not recorded, as in old databases.
    """

    kind: FileKind
    content: str = ""
    mode: int = 0

    def is_like(self, other: "FileState") -> bool:
        """Return whether both are equal, as far as they are known."""
        are_folders = self.kind is other.kind is FileKind.FOLDER
        return self == other or (are_folders and not (self.mode and other.mode))


ABSENT = FileState(FileKind.ABSENT)


@dataclass(frozen=True, slots=True)
class Change:
    """One path in one call; `after` is None while the call runs, and for ever if the program was killed.

    `is_seen` means that comparing files before and after a command found it: it may be the user's change.
    """

    seq: int
    turn: int
    call_id: str
    path: Path
    before: FileState
    after: FileState | None
    is_seen: bool = False


class Manifest(Table):
    async def begin(
        self, session_id: str, turn: int, call_id: str, states: Iterable[tuple[Path, FileState]]
    ) -> tuple[Change, ...]:
        """Record what a call is about to change."""
        given = tuple(states)

        def work(connection: sqlite3.Connection) -> tuple[Change, ...]:
            last, owner = last_seq(connection, session_id), turn_in_effect(connection, session_id, turn)
            added = tuple(
                Change(last + place, owner, call_id, path, state, None)
                for place, (path, state) in enumerate(given, start=1)
            )
            add_rows(connection, session_id, added)
            return added

        return await self._database.write(work)

    async def finish(self, session_id: str, states: Iterable[tuple[Change, FileState]]) -> tuple[Change, ...]:
        """Record the states after a call, drop what did not change, and return the rest."""
        given = tuple(states)

        def work(connection: sqlite3.Connection) -> tuple[Change, ...]:
            ends = [(*_columns(state), time.time(), session_id, change.seq) for change, state in given]
            connection.executemany(_FINISH, ends)
            return tuple(
                replace(change, after=state)
                for change, state in given
                # Compared with the stored state: a concurrent command may have moved its start.
                if not connection.execute(_FORGET, (session_id, change.seq)).rowcount
            )

        return await self._database.write(work)

    async def since(self, session_id: str, turn: int, *, undone: bool = False) -> tuple[Change, ...]:
        """Return the changes of a turn and later ones, in order: those in effect, or the undone ones."""
        return await self._changes("turn >= ? AND is_undone = ?", session_id, turn, int(undone))

    async def all_undone(self, session_id: str, turn: int) -> tuple[Change, ...]:
        """Return all undone changes of a turn and later ones, whether they can be redone or not."""
        return await self._changes("turn >= ? AND is_undone", session_id, turn)

    async def _changes(self, which: str, session_id: str, *given: int) -> tuple[Change, ...]:
        query = f"{SELECT} WHERE session_id = ? AND {which} ORDER BY seq"

        return await self._read(query, (session_id, *given))

    async def outermost(self, session_id: str, turn: int) -> tuple[Change, ...]:
        """Return the first and last finished change of each path since a turn, in order."""
        query = (
            f"{SELECT} WHERE session_id = :id AND seq IN ("
            f"SELECT min(seq) FROM changes WHERE {_FINISHED} GROUP BY path UNION "
            f"SELECT max(seq) FROM changes WHERE {_FINISHED} GROUP BY path) ORDER BY seq"
        )

        return await self._read(query, {"id": session_id, "turn": turn})

    async def _read(
        self, query: str, values: tuple[str | int, ...] | dict[str, str | int]
    ) -> tuple[Change, ...]:
        return await self._database.read(
            lambda connection: tuple(read_all(connection.execute(query, values), change_of))
        )

    async def mark_undone(self, session_id: str, changes: Iterable[Change], *, undone: bool) -> None:
        rows = [(int(undone), session_id, change.seq) for change in changes]

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany("UPDATE changes SET is_undone = ? WHERE session_id = ? AND seq = ?", rows)

        await self._database.write(work)


SELECT = (
    "SELECT seq, turn, call_id, path, before_kind, before_content, before_mode, "
    "after_kind, after_content, after_mode, is_seen FROM changes"
)
_FINISHED = "session_id = :id AND turn >= :turn AND NOT is_undone AND after_kind IS NOT NULL"
_INSERT = (
    "INSERT INTO changes (session_id, seq, turn, call_id, path, before_kind, before_content, before_mode, "
    "is_seen, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_FINISH = (
    "UPDATE changes SET after_kind = ?, after_content = ?, after_mode = ?, ended = ? "
    "WHERE session_id = ? AND seq = ?"
)
_FORGET = (
    "DELETE FROM changes WHERE session_id = ? AND seq = ? "
    "AND before_kind = after_kind AND before_content = after_content AND before_mode = after_mode"
)
Row = tuple[int, int, str, str, str, str, int, str | None, str | None, int | None, int]


def last_seq(connection: sqlite3.Connection, session_id: str) -> int:
    row = connection.execute("SELECT coalesce(max(seq), 0) FROM changes WHERE session_id = ?", (session_id,))
    return int(row.fetchone()[0])


def add_rows(connection: sqlite3.Connection, session_id: str, changes: Iterable[Change]) -> None:
    """Insert changes, with their end states if they have one."""
    given, now = tuple(changes), time.time()
    connection.executemany(_INSERT, [_row(session_id, change, now) for change in given])
    ends = [(*_columns(each.after), now, session_id, each.seq) for each in given if each.after is not None]
    connection.executemany(_FINISH, ends)


def start_earlier(connection: sqlite3.Connection, session_id: str, seq: int, state: FileState) -> None:
    """Let a change start from an earlier state, to include what a command did since."""
    connection.execute(
        "UPDATE changes SET before_kind = ?, before_content = ?, before_mode = ?, is_seen = 1 "
        "WHERE session_id = ? AND seq = ?",
        (*_columns(state), session_id, seq),
    )


def change_of(row: Row) -> Change:
    seq, turn, call_id, path, kind, content, mode, after_kind, after_content, after_mode, is_seen = row
    after = None
    if after_kind is not None:
        after = FileState(FileKind(after_kind), after_content or "", after_mode or 0)
    before = FileState(FileKind(kind), content, mode)
    return Change(seq, turn, unpack_text(call_id), Path(unpack_text(path)), before, after, bool(is_seen))


def _columns(state: FileState) -> tuple[str, str, int]:
    return state.kind, state.content, state.mode


def _row(session_id: str, change: Change, now: float) -> tuple[str | int | float, ...]:
    words = (pack_text(change.call_id), pack_text(str(change.path)))
    owner = (session_id, change.seq, change.turn)
    return *owner, *words, *_columns(change.before), int(change.is_seen), now
