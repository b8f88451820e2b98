"""Which sessions there are: made, found, listed, claimed, deleted."""

import sqlite3
import time
from datetime import UTC, datetime

from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import StorageError
from coder_tui.storage.claims import Claims
from coder_tui.storage.codec import pack_text, unpack_text
from coder_tui.storage.database import Database
from coder_tui.storage.records import SessionInfo
from coder_tui.storage.redaction import Redaction
from coder_tui.storage.session_ids import new_session_id

_SELECT = """
    SELECT id, title, directory, model, mode, created, updated,
        (SELECT count(*) FROM messages WHERE session_id = sessions.id AND unsaid_with IS NULL),
        (SELECT sum(cost) FROM usage WHERE session_id = sessions.id)
    FROM sessions
"""
_NEXT_ACTIVITY = "(SELECT coalesce(max(activity), 0) + 1 FROM sessions)"


class SessionIndex:
    def __init__(self, database: Database, claims: Claims, redaction: Redaction) -> None:
        self._database = database
        self._redaction = redaction
        self._claims = claims

    async def create_session(self, directory: str, model: str, mode: Mode) -> SessionInfo:
        session_id = new_session_id()
        row = (session_id, pack_text(directory), pack_text(model), mode)

        def work(connection: sqlite3.Connection) -> SessionInfo:
            now = time.time()
            connection.execute(
                "INSERT INTO sessions (id, title, directory, model, mode, created, updated, activity) "
                f"VALUES (?, '', ?, ?, ?, ?, ?, {_NEXT_ACTIVITY})",
                (*row, now, now),
            )
            return info_of(connection, session_id)

        return await self._database.write(work)

    async def rename(self, session_id: str, title: str) -> None:
        await self._set(session_id, "title", self._redaction.text(title))

    async def set_model(self, session_id: str, model: str) -> None:
        await self._set(session_id, "model", model)

    async def set_mode(self, session_id: str, mode: Mode) -> None:
        await self._set(session_id, "mode", mode)

    async def get(self, session_id: str) -> SessionInfo:
        """Find by id or by the beginning of one, if that fits a single session."""
        return await self._database.read(lambda connection: _find(connection, session_id))

    async def latest(self, directory: str) -> SessionInfo | None:
        """The session that was used last in a folder."""
        found = await self.list_sessions(directory, 1)
        return found[0] if found else None

    async def list_sessions(self, directory: str | None = None, limit: int = 50) -> tuple[SessionInfo, ...]:
        """The sessions of a folder, or of all, the one used last first."""
        wanted = None if directory is None else pack_text(directory)
        where = "" if directory is None else "AND directory = :directory"
        query = f"{_SELECT} WHERE parent_id IS NULL {where} ORDER BY activity DESC LIMIT :limit"

        def work(connection: sqlite3.Connection) -> tuple[SessionInfo, ...]:
            rows = connection.execute(query, {"directory": wanted, "limit": limit})
            return tuple(_info(row) for row in rows)

        return await self._database.read(work)

    async def delete(self, session_id: str) -> None:
        """Remove a session and all it holds, unless another process works in it."""

        def work(connection: sqlite3.Connection) -> None:
            info_of(connection, session_id)
            if not self._claims.take(session_id):
                raise StorageError(f"session {session_id} is open in another process; close it there first")
            connection.execute("DELETE FROM sessions WHERE id = ?", (session_id,))
            self._claims.release(session_id)

        await self._database.write(work)

    async def claim(self, session_id: str) -> bool:
        """Become the one writer of a session until `release`, `close` or death; False where another is."""
        return await self._database.read(lambda _: self._claims.take(session_id))

    async def release(self, session_id: str) -> None:
        await self._database.read(lambda _: self._claims.release(session_id))

    async def _set(self, session_id: str, column: str, value: str) -> None:
        def work(connection: sqlite3.Connection) -> None:
            info_of(connection, session_id)
            connection.execute(
                f"UPDATE sessions SET {column} = ? WHERE id = ?", (pack_text(value), session_id)
            )

        await self._database.write(work)


def info_of(connection: sqlite3.Connection, session_id: str) -> SessionInfo:
    row = connection.execute(f"{_SELECT} WHERE id = ?", (session_id,)).fetchone()
    if row is None:
        raise _unknown(session_id)
    return _info(row)


def touch(connection: sqlite3.Connection, session_id: str) -> None:
    """Note that a session was used just now."""
    connection.execute(
        f"UPDATE sessions SET updated = ?, activity = {_NEXT_ACTIVITY} WHERE id = ?",
        (time.time(), session_id),
    )


def _find(connection: sqlite3.Connection, prefix: str) -> SessionInfo:
    ids = connection.execute(
        "SELECT id FROM sessions WHERE substr(id, 1, :length) = :prefix "
        "AND (parent_id IS NULL OR id = :prefix) ORDER BY id LIMIT 20",
        {"length": len(prefix), "prefix": pack_text(prefix.lower())},
    ).fetchall()
    if not ids or not prefix:
        raise _unknown(prefix)
    if len(ids) > 1:
        raise StorageError(f"{prefix!r} fits more than one session; give more of its id")
    return info_of(connection, ids[0][0])


def _unknown(session_id: str) -> StorageError:
    return StorageError(f"no session {session_id!r}; `coder-tui sessions list` shows them")


def _info(row: sqlite3.Row) -> SessionInfo:
    id_, title, directory, model, mode, created, updated, message_count, cost = row
    return SessionInfo(
        id_,
        unpack_text(title),
        unpack_text(directory),
        unpack_text(model),
        Mode(mode),
        datetime.fromtimestamp(created, UTC),
        datetime.fromtimestamp(updated, UTC),
        message_count,
        cost,
    )
