"""Forks: copies of a session or of its beginning. Trash: deleted sessions, kept for a while."""

import re
import sqlite3
import time
from dataclasses import dataclass
from datetime import datetime

from coder_tui.protocol.errors import StorageError
from coder_tui.storage.database import Database, Table, skip_unreadable, to_datetime
from coder_tui.storage.half_written import Claims
from coder_tui.storage.index import NEXT_ACTIVITY, find_info, info_of, new_session_id
from coder_tui.storage.records import SessionInfo, pack_text, unpack_text

_UNTITLED = "an untitled session"
_FORK = re.compile(r"fork (?:\d+ )?of (.+)", re.DOTALL)
_CALL = (
    "call_id, message_id, tool, arguments, kind, proposed_summary, started, "
    "outcome, result, display, summary, duration_ms"
)


class Forks(Table):
    async def create(self, session_id: str, before: str = "") -> SessionInfo:
        """Copy the messages before this message id, or all; the original is unchanged.

        Costs, decisions and file changes stay with the original only.
        """

        def work(connection: sqlite3.Connection) -> SessionInfo:
            fork_id = new_session_id()
            end = _place_of(connection, session_id, before) if before else None
            _copy_session(connection, session_id, fork_id, end)
            _copy_said(connection, session_id, fork_id, end)
            _copy_surroundings(connection, session_id, fork_id)
            return info_of(connection, fork_id)

        return await self._database.write(work)


def _place_of(connection: sqlite3.Connection, session_id: str, message_id: str) -> int:
    row = connection.execute(
        "SELECT seq FROM messages WHERE session_id = ? AND message_id = ? AND unsaid_with IS NULL",
        (session_id, pack_text(message_id)),
    ).fetchone()
    if row is None:
        raise StorageError("that message is no longer part of the session")
    return int(row[0])


def _copy_session(connection: sqlite3.Connection, session_id: str, fork_id: str, end: int | None) -> None:
    title = _title(connection, info_of(connection, session_id).title)
    todos = connection.execute(
        # The todos when that message was sent: a turn records them when it begins.
        "SELECT todos_before FROM turns WHERE session_id = ? AND first_seq >= ? AND NOT is_unsaid "
        "ORDER BY first_seq LIMIT 1",
        (session_id, end),
    ).fetchone()
    connection.execute(
        "INSERT INTO sessions (id, title, directory, model, mode, created, updated, activity, todos) "
        f"SELECT ?, ?, directory, model, mode, ?, ?, {NEXT_ACTIVITY}, coalesce(?, todos) "
        "FROM sessions WHERE id = ?",
        (fork_id, pack_text(title), time.time(), time.time(), todos and todos[0], session_id),
    )


def _title(connection: sqlite3.Connection, title: str) -> str:
    """Name a fork after the original session, with a number if needed."""
    match = _FORK.fullmatch(title)
    original = match[1] if match else title or _UNTITLED
    titles = connection.execute("SELECT title FROM sessions WHERE parent_id IS NULL AND title LIKE 'fork %'")
    taken = {unpack_text(row[0]) for row in titles}
    if f"fork of {original}" not in taken:
        return f"fork of {original}"
    number = 2
    while f"fork {number} of {original}" in taken:
        number += 1
    return f"fork {number} of {original}"


def _copy_said(connection: sqlite3.Connection, session_id: str, fork_id: str, end: int | None) -> None:
    """Copy the messages in effect, their calls and the calls' sub-agents."""
    values = {"old": session_id, "new": fork_id, "end": end}
    connection.execute(
        "INSERT INTO messages (session_id, seq, message_id, role, body, created) "
        "SELECT :new, seq, message_id, role, body, created FROM messages "
        "WHERE session_id = :old AND unsaid_with IS NULL AND (:end IS NULL OR seq < :end) ORDER BY seq",
        values,
    )
    connection.execute(
        f"INSERT INTO calls (session_id, {_CALL}) SELECT :new, {_CALL} FROM calls "
        "WHERE session_id = :old AND message_id IN (SELECT message_id FROM messages WHERE session_id = :new) "
        "ORDER BY rowid",
        values,
    )
    children = connection.execute(
        "SELECT child_id FROM children JOIN sessions ON id = child_id WHERE parent_id = :old "
        "AND call_id IN (SELECT call_id FROM calls WHERE session_id = :new) ORDER BY children.rowid",
        values,
    ).fetchall()
    for (child_id,) in children:
        _copy_child(connection, child_id, fork_id)


def _copy_child(connection: sqlite3.Connection, child_id: str, fork_id: str) -> None:
    copy_id = new_session_id()
    connection.execute(
        "INSERT INTO sessions "
        "(id, title, directory, model, mode, created, updated, activity, todos, parent_id) "
        "SELECT ?, title, directory, model, mode, created, updated, 0, todos, ? FROM sessions WHERE id = ?",
        (copy_id, fork_id, child_id),
    )
    connection.execute(
        "INSERT INTO children (child_id, call_id, agent, state, summary, seconds) "
        "SELECT ?, call_id, agent, state, summary, seconds FROM children WHERE child_id = ?",
        (copy_id, child_id),
    )
    _copy_said(connection, child_id, copy_id, None)


def _copy_surroundings(connection: sqlite3.Connection, session_id: str, fork_id: str) -> None:
    """Copy the profile and the pins, and the plan and compactions that belong to the copied part."""
    values = {"old": session_id, "new": fork_id}
    connection.execute(
        "INSERT INTO leads (session_id, profile, plan) SELECT :new, profile, "
        "CASE WHEN EXISTS (SELECT 1 FROM calls WHERE session_id = :new AND tool = 'plan_exit' "
        "AND outcome = 'ok') THEN plan ELSE '' END FROM leads WHERE session_id = :old",
        values,
    )
    connection.execute(
        "INSERT INTO pins (session_id, text) "
        "SELECT :new, text FROM pins WHERE session_id = :old ORDER BY rowid",
        values,
    )
    connection.execute(
        "INSERT INTO compactions (session_id, number, last_id, summary, pruned, created) "
        "SELECT :new, number, last_id, summary, pruned, created FROM compactions "
        "WHERE session_id = :old AND NOT is_undone "
        # Without a last message it only pruned results.
        "AND (last_id = '' OR last_id IN (SELECT message_id FROM messages WHERE session_id = :new))",
        values,
    )


@dataclass(frozen=True, slots=True)
class Trashed:
    info: SessionInfo
    when: datetime


class Trash:
    def __init__(self, database: Database, claims: Claims) -> None:
        self._database = database
        self._claims = claims

    async def discard(self, session_id: str) -> None:
        """Move a session to the trash, unless a process has it open; `restore` brings it back."""

        def work(connection: sqlite3.Connection) -> None:
            info_of(connection, session_id)
            if self._claims.holds(session_id) or not self._claims.acquire(session_id):
                raise StorageError(f"session {session_id} is open in another coder-tui; close it there first")
            connection.execute("UPDATE sessions SET trashed = ? WHERE id = ?", (time.time(), session_id))
            self._claims.release(session_id)

        await self._database.write(work)

    async def restore(self, session_id: str) -> SessionInfo:
        """Restore a deleted session by its id or a prefix of it."""

        def work(connection: sqlite3.Connection) -> SessionInfo:
            info = find_info(connection, session_id, trashed=True)
            connection.execute("UPDATE sessions SET trashed = NULL WHERE id = ?", (info.id,))
            return info

        return await self._database.write(work)

    async def list(self, directory: str | None = None, limit: int = 200) -> tuple[Trashed, ...]:
        """Return the deleted sessions of a folder, or all, most recently deleted first."""
        where = "" if directory is None else "AND directory = :directory"
        values = {"directory": None if directory is None else pack_text(directory), "limit": limit}

        query = (
            f"SELECT id, trashed FROM sessions WHERE trashed IS NOT NULL {where} "
            "ORDER BY trashed DESC, activity DESC LIMIT :limit"
        )

        def work(connection: sqlite3.Connection) -> tuple[Trashed, ...]:
            rows = connection.execute(query, values).fetchall()
            return tuple(
                skip_unreadable(rows, lambda row: Trashed(info_of(connection, row[0]), to_datetime(row[1])))
            )

        return await self._database.read(work)

    async def empty(self, before: float) -> int:
        """Remove sessions for good that were deleted before a time; return how many."""
        old = "FROM sessions WHERE trashed < ?"
        # Checked first: the start must not wait for a write that changes nothing.
        found = await self._database.read(
            lambda connection: connection.execute(f"SELECT 1 {old}", (before,)).fetchone()
        )
        if found is None:
            return 0
        return await self._database.write(
            lambda connection: connection.execute(f"DELETE {old}", (before,)).rowcount
        )
