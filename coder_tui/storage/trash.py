"""Keeps deleted sessions for a while: out of every list, until somebody wants one back."""

import sqlite3
import time
from dataclasses import dataclass
from datetime import datetime

from coder_tui.protocol.errors import StorageError
from coder_tui.storage.claims import Claims
from coder_tui.storage.codec import pack_text
from coder_tui.storage.damage import moment, readable
from coder_tui.storage.database import Database
from coder_tui.storage.index import find_info, info_of
from coder_tui.storage.records import SessionInfo


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
