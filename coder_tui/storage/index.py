"""Which sessions there are: made, found, listed, claimed, deleted.

Names sessions so that they sort by age and two processes never choose the same.
"""

import difflib
import json
import secrets
import sqlite3
import time

from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import StorageError
from coder_tui.storage.claims import Claims
from coder_tui.storage.codec import pack_text, unpack_text
from coder_tui.storage.database import Database, moment, readable
from coder_tui.storage.records import SessionInfo
from coder_tui.storage.redaction import Redaction

# Crockford's base 32: no letter that could be read as a digit.
_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME_LENGTH = 9
_RANDOM_LENGTH = 5


def new_session_id() -> str:
    """Nine characters of time in milliseconds, enough beyond the year 3000, and five of chance."""
    return _base32(time.time_ns() // 1_000_000, _TIME_LENGTH) + "".join(
        secrets.choice(_DIGITS) for _ in range(_RANDOM_LENGTH)
    )


def _base32(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))


_SELECT = """
    SELECT id, title, directory, model, mode, created, updated,
        (SELECT count(*) FROM messages WHERE session_id = sessions.id AND unsaid_with IS NULL),
        (SELECT sum(cost) FROM usage WHERE session_id = sessions.id)
    FROM sessions
"""
_MOST_NAMED = 3
NEXT_ACTIVITY = "(SELECT coalesce(max(activity), 0) + 1 FROM sessions)"


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
                f"VALUES (?, '', ?, ?, ?, ?, ?, {NEXT_ACTIVITY})",
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
        return await self._database.read(lambda connection: find_info(connection, session_id))

    async def latest(self, directory: str) -> SessionInfo | None:
        """The session that was used last in a folder, of those in which something was said."""
        found = await self.list_sessions(directory, 1, only_used=True)
        return found[0] if found else None

    async def list_sessions(
        self, directory: str | None = None, limit: int = 50, *, only_used: bool = False
    ) -> tuple[SessionInfo, ...]:
        """The sessions of a folder, or of all, the one used last first; not those in the trash."""
        return await self._database.read(
            lambda connection: list_infos(connection, directory, limit, only_used=only_used)
        )

    async def delete(self, session_id: str) -> None:
        """Remove a session and all it holds for good, unless another process works in it."""

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

    async def claimed_elsewhere(self) -> frozenset[str]:
        """The sessions that other processes write now."""
        return await self._database.read(lambda _: self._claims.held_elsewhere())

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
        raise StorageError(f"no session {session_id!r}; `coder-tui sessions list` shows them")
    return _info(row)


def touch(connection: sqlite3.Connection, session_id: str) -> None:
    """Note that a session was used just now."""
    connection.execute(
        f"UPDATE sessions SET updated = ?, activity = {NEXT_ACTIVITY} WHERE id = ?",
        (time.time(), session_id),
    )


def list_infos(
    connection: sqlite3.Connection,
    directory: str | None,
    limit: int,
    *,
    only_used: bool = False,
    among: tuple[str, ...] | None = None,
) -> tuple[SessionInfo, ...]:
    """Sessions that are not in the trash, the one used last first; `among` leaves only those of these ids."""
    where = ["parent_id IS NULL", "trashed IS NULL"]
    if directory is not None:
        where.append("directory = :directory")
    if only_used:
        where.append("EXISTS (SELECT 1 FROM messages WHERE session_id = sessions.id)")
    if among is not None:
        where.append("id IN (SELECT value FROM json_each(:among))")
    values = {
        "directory": None if directory is None else pack_text(directory),
        "among": json.dumps(among),
        "limit": limit,
    }
    query = f"{_SELECT} WHERE {' AND '.join(where)} ORDER BY activity DESC LIMIT :limit"
    return tuple(readable(connection.execute(query, values), _info))


def find_info(connection: sqlite3.Connection, prefix: str, *, trashed: bool = False) -> SessionInfo:
    """By id or the beginning of one; `StorageError` names what may be meant where that is not clear."""
    found = _beginning_with(connection, prefix, trashed=trashed)
    if len(found) == 1:
        return info_of(connection, found[0][0])
    if found:
        raise StorageError(f"{prefix!r} fits more than one session: {_named(found)}; give more of its id")
    if not trashed and (gone := _beginning_with(connection, prefix, trashed=True)):
        raise StorageError(
            f"session {gone[0][0]} was deleted; `coder-tui sessions restore {gone[0][0]}` brings it back"
        )
    near = _near(connection, prefix, trashed=trashed)
    nearest = f"; the nearest are {_named(near)}" if near else ""
    kind, flag = ("deleted session", " --deleted") if trashed else ("session", "")
    raise StorageError(f"no {kind} {prefix!r}{nearest}; `coder-tui sessions list{flag}` shows them")


def _beginning_with(connection: sqlite3.Connection, prefix: str, *, trashed: bool) -> list[tuple[str, str]]:
    """Ids and titles; a sub-agent's conversation is found by its whole id only."""
    if not prefix:
        return []
    return connection.execute(
        "SELECT id, title FROM sessions WHERE substr(id, 1, :length) = :prefix "
        "AND (parent_id IS NULL OR id = :prefix) AND (trashed IS NOT NULL) = :trashed "
        "ORDER BY activity DESC LIMIT 20",
        {"length": len(prefix), "prefix": pack_text(prefix.lower()), "trashed": trashed},
    ).fetchall()


def _near(connection: sqlite3.Connection, wanted: str, *, trashed: bool) -> list[tuple[str, str]]:
    rows = connection.execute(
        "SELECT id, title FROM sessions WHERE parent_id IS NULL AND (trashed IS NOT NULL) = ?", (trashed,)
    ).fetchall()
    # What was typed may be the beginning of an id: it is compared with as much of each.
    beginnings = {row[0][: max(len(wanted), 4)]: row for row in rows}
    near = difflib.get_close_matches(wanted.lower(), beginnings, n=_MOST_NAMED)
    return [beginnings[each] for each in near]


def _named(rows: list[tuple[str, str]]) -> str:
    named = ", ".join(f"{id_} ({unpack_text(title) or 'untitled'})" for id_, title in rows[:_MOST_NAMED])
    return f"{named} and {len(rows) - _MOST_NAMED} more" if len(rows) > _MOST_NAMED else named


def _info(row: sqlite3.Row) -> SessionInfo:
    id_, title, directory, model, mode, created, updated, message_count, cost = row
    return SessionInfo(
        id_,
        unpack_text(title),
        unpack_text(directory),
        unpack_text(model),
        Mode(mode) if mode in list(Mode) else Mode.ASK,
        moment(created),
        moment(updated),
        message_count,
        cost,
    )
