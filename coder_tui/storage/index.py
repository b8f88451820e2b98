"""The index of sessions: creates, lists and claims them, and finds them by id or by the words in them.

Session ids sort by age, and two processes never choose the same.
"""

import difflib
import json
import re
import secrets
import sqlite3
import time
from collections import Counter
from dataclasses import dataclass

from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import StorageError
from coder_tui.storage.database import Database, Table, skip_unreadable, to_datetime
from coder_tui.storage.half_written import Claims
from coder_tui.storage.records import SessionInfo, pack_text, unpack_text
from coder_tui.storage.redaction import RedactedTable, Redaction

# Crockford's base 32: no letter that could be read as a digit.
_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME_LENGTH = 9
_RANDOM_LENGTH = 5


def new_session_id() -> str:
    """Return nine characters for the time in milliseconds, enough beyond year 3000, and five random ones."""
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


class SessionIndex(RedactedTable):
    def __init__(self, database: Database, claims: Claims, redaction: Redaction) -> None:
        super().__init__(database, redaction)
        self._claims = claims

    async def create(self, directory: str, model: str, mode: Mode) -> SessionInfo:
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

    async def get(self, session_id: str) -> SessionInfo:
        """Find a session by its id, or by a prefix that matches only one."""
        return await self._database.read(lambda connection: find_info(connection, session_id))

    async def latest(self, directory: str) -> SessionInfo | None:
        """Return the most recently used session of a folder that has a message."""
        found = await self.list(directory, 1, only_used=True)
        return found[0] if found else None

    async def list(
        self, directory: str | None = None, limit: int = 50, *, only_used: bool = False
    ) -> tuple[SessionInfo, ...]:
        """Return the sessions of a folder, or all, most recently used first, without the trash."""
        return await self._database.read(
            lambda connection: list_infos(connection, directory, limit, only_used=only_used)
        )

    async def delete(self, session_id: str) -> None:
        """Delete a session for good, unless another process has it open."""

        def work(connection: sqlite3.Connection) -> None:
            info_of(connection, session_id)
            if not self._claims.acquire(session_id):
                raise StorageError(f"session {session_id} is open in another process; close it there first")
            connection.execute("DELETE FROM sessions WHERE id = ?", (session_id,))
            self._claims.release(session_id)

        await self._database.write(work)

    async def claim(self, session_id: str) -> bool:
        """Become the only writer of a session until `release` or exit; False if another process is."""
        return await self._database.read(lambda _: self._claims.acquire(session_id))

    async def claimed_elsewhere(self) -> frozenset[str]:
        """Return the sessions that other processes have open now."""
        return await self._database.read(lambda _: self._claims.held_elsewhere())

    async def release(self, session_id: str) -> None:
        await self._database.read(lambda _: self._claims.release(session_id))

    async def _set(self, session_id: str, column: str, value: str) -> None:
        await self._database.write(lambda connection: set_column(connection, session_id, column, value))


def set_column(connection: sqlite3.Connection, session_id: str, column: str, value: str) -> None:
    info_of(connection, session_id)
    connection.execute(f"UPDATE sessions SET {column} = ? WHERE id = ?", (pack_text(value), session_id))


def info_of(connection: sqlite3.Connection, session_id: str) -> SessionInfo:
    row = connection.execute(f"{_SELECT} WHERE id = ?", (session_id,)).fetchone()
    if row is None:
        raise StorageError(f"no session {session_id!r}; `coder-tui sessions list` shows them")
    return _info(row)


def touch(connection: sqlite3.Connection, session_id: str) -> None:
    """Record that a session was used just now."""
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
    """Return sessions outside the trash, most recently used first; `among` restricts them to these ids."""
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
    return tuple(skip_unreadable(connection.execute(query, values), _info))


def find_info(connection: sqlite3.Connection, prefix: str, *, trashed: bool = False) -> SessionInfo:
    """Find a session by id or prefix; if that is not unique, `StorageError` names the candidates."""
    found = _beginning_with(connection, prefix, trashed=trashed)
    if len(found) == 1:
        return info_of(connection, found[0][0])
    if found:
        raise StorageError(
            f"{prefix!r} matches more than one session: {_named(found)}; give a longer part of the id"
        )
    if not trashed and (gone := _beginning_with(connection, prefix, trashed=True)):
        raise StorageError(
            f"session {gone[0][0]} was deleted; `coder-tui sessions restore {gone[0][0]}` restores it"
        )
    near = _near(connection, prefix, trashed=trashed)
    nearest = f"; the nearest are {_named(near)}" if near else ""
    kind, flag = ("deleted session", " --deleted") if trashed else ("session", "")
    raise StorageError(f"no {kind} {prefix!r}{nearest}; `coder-tui sessions list{flag}` shows them")


def _beginning_with(connection: sqlite3.Connection, prefix: str, *, trashed: bool) -> list[tuple[str, str]]:
    """Return ids and titles; a sub-agent's conversation is found only by its full id."""
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
    # The input may be a prefix, so it is compared with a prefix of each id.
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
        to_datetime(created),
        to_datetime(updated),
        message_count,
        cost,
    )


MOST_WORDS = 12
_AROUND = 60
"""Characters to show before and after a match."""

_IN_INDEX = "id IN (SELECT rowid FROM passage_words WHERE passage_words MATCH ?)"
_CONTROLS = re.compile("[\x00-\x1f]")
# The index cannot split scripts without spaces into words.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A session with all the words; `count` passages contain some of them, `excerpt` is from the best."""

    info: SessionInfo
    excerpt: str
    count: int


class Search(Table):
    async def find(self, words: str, directory: str | None = None, limit: int = 50) -> tuple[Hit, ...]:
        """Find sessions, in a folder or all, with every word or a word that starts with it; newest first."""
        # Undecodable bytes of an argument match nothing; control characters end a word.
        wanted = _CONTROLS.sub(" ", words.encode(errors="replace").decode()).split()[:MOST_WORDS]
        return await self._database.read(lambda connection: _search(connection, wanted, directory, limit))


def _search(
    connection: sqlite3.Connection, words: list[str], directory: str | None, limit: int
) -> tuple[Hit, ...]:
    found = _found(connection, words)
    infos = list_infos(connection, directory, limit, among=tuple(found))
    return tuple(
        Hit(info, _excerpt(connection, found[info.id], words), len(found[info.id])) for info in infos
    )


def _found(connection: sqlite3.Connection, words: list[str]) -> dict[str, Counter[int]]:
    """Return the passages of each session with all words, and how many words each passage has."""
    passages: dict[str, Counter[int]] = {}
    for place, word in enumerate(words):
        sessions: dict[str, Counter[int]] = {}
        for session_id, passage in _passages(connection, word):
            if place == 0 or session_id in passages:
                sessions.setdefault(session_id, Counter()).update((passage,))
        passages = {key: passages.get(key, Counter()) + counted for key, counted in sessions.items()}
    return passages


def _passages(connection: sqlite3.Connection, word: str) -> list[tuple[str, int]]:
    if word.isalnum() and not _UNSPACED.search(word):
        # No prefix search for one letter: too many matches, and slow.
        query, value = _IN_INDEX, f'"{word}"*' if len(word) > 1 else f'"{word}"'
    else:
        # The index ignores punctuation, so `c++` and `a.py` are searched literally.
        escaped = re.sub(r"([%_!])", r"!\1", word)
        query, value = "text LIKE ? ESCAPE '!'", f"%{escaped}%"
    return connection.execute(f"SELECT session_id, id FROM passages WHERE {query}", (value,)).fetchall()


def _excerpt(connection: sqlite3.Connection, passages: Counter[int], words: list[str]) -> str:
    """Return text from the passage with most words, the newest if equal; a title only as a last resort."""
    most = max(passages.values())
    best = [passage for passage, count in passages.items() if count == most]
    marks = ", ".join("?" for _ in best[-100:])
    (text,) = connection.execute(
        f"SELECT text FROM passages WHERE id IN ({marks}) ORDER BY message_id <> '' DESC, id DESC",
        best[-100:],
    ).fetchone()
    return around(text, words)


def around(text: str, words: list[str]) -> str:
    """Return the part of a text around the first match, on one line."""
    line = " ".join(text.split())
    places = [at for word in words if (at := line.lower().find(word.lower())) >= 0]
    start = max(0, min(places, default=0) - _AROUND)
    end = start + 2 * _AROUND
    if start:
        start = line.find(" ", start, start + _AROUND // 2) + 1 or start
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
