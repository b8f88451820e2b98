"""Copies the beginning of a session, or all of it, into one of its own: a fork.

Keeps deleted sessions for a while: out of every list, until somebody wants one back.
"""

import re
import sqlite3
import time
from dataclasses import dataclass
from datetime import datetime

from coder_tui.protocol.errors import StorageError
from coder_tui.storage.claims import Claims
from coder_tui.storage.codec import pack_text, unpack_text
from coder_tui.storage.database import Database, moment, readable
from coder_tui.storage.index import NEXT_ACTIVITY, find_info, info_of, new_session_id
from coder_tui.storage.records import SessionInfo

_UNTITLED = "an untitled session"
_FORK = re.compile(r"fork (?:\d+ )?of (.+)", re.DOTALL)
_CALL = (
    "call_id, message_id, tool, arguments, kind, proposed_summary, started, "
    "outcome, result, display, summary, duration_ms"
)


class Forking:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def fork(self, session_id: str, before: str = "") -> SessionInfo:
        """Copy what was said before the message of this id, or everything; the original stays untouched.

        What it cost, what was decided and which files were changed stays with the original alone.
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
        # As they were when that message was sent: a turn notes them as it begins.
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
    """Forks of a fork are named after the first one; each has its number."""
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
    """Messages that count, their calls, and the sub-agents of those."""
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
    """Profile, pins, and of plan and compactions what belongs to the part that was copied."""
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
        # Without a last message it only left out results.
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
        """Take a session out of every list, unless a process works in it; `restore` brings it back."""

        def work(connection: sqlite3.Connection) -> None:
            info_of(connection, session_id)
            if self._claims.holds(session_id) or not self._claims.take(session_id):
                raise StorageError(f"session {session_id} is open in a coder-tui; close it there first")
            connection.execute("UPDATE sessions SET trashed = ? WHERE id = ?", (time.time(), session_id))
            self._claims.release(session_id)

        await self._database.write(work)

    async def restore(self, session_id: str) -> SessionInfo:
        """Find a deleted session by its id or the beginning of one, and bring it back."""

        def work(connection: sqlite3.Connection) -> SessionInfo:
            info = find_info(connection, session_id, trashed=True)
            connection.execute("UPDATE sessions SET trashed = NULL WHERE id = ?", (info.id,))
            return info

        return await self._database.write(work)

    async def trashed(self, directory: str | None = None, limit: int = 200) -> tuple[Trashed, ...]:
        """Deleted sessions of a folder, or of all, the one deleted last first."""
        where = "" if directory is None else "AND directory = :directory"
        values = {"directory": None if directory is None else pack_text(directory), "limit": limit}

        query = (
            f"SELECT id, trashed FROM sessions WHERE trashed IS NOT NULL {where} "
            "ORDER BY trashed DESC, activity DESC LIMIT :limit"
        )

        def work(connection: sqlite3.Connection) -> tuple[Trashed, ...]:
            rows = connection.execute(query, values).fetchall()
            return tuple(readable(rows, lambda row: Trashed(info_of(connection, row[0]), moment(row[1]))))

        return await self._database.read(work)

    async def empty_trash(self, before: float) -> int:
        """Remove for good what was deleted before a time; returns how many sessions."""
        old = "FROM sessions WHERE trashed < ?"
        # Looked at first: a start must not wait for a write that changes nothing.
        found = await self._database.read(
            lambda connection: connection.execute(f"SELECT 1 {old}", (before,)).fetchone()
        )
        if found is None:
            return 0
        return await self._database.write(
            lambda connection: connection.execute(f"DELETE {old}", (before,)).rowcount
        )
