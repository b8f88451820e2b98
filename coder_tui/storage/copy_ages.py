"""Which kept contents belong to which turn, and how old they are: what is given up first goes by this."""

import sqlite3
from dataclasses import dataclass

from coder_tui.storage.claims import Claims
from coder_tui.storage.codec import unpack_text
from coder_tui.storage.database import Database


@dataclass(frozen=True, slots=True)
class TurnCopies:
    """What undoing and redoing one turn needs."""

    session_id: str
    directory: str
    turn: int
    created: float
    contents: frozenset[str]


class CopyAges:
    def __init__(self, database: Database, claims: Claims) -> None:
        self._database = database
        self._claims = claims

    async def copies_by_turn(self) -> tuple[TurnCopies, ...]:
        """Of all sessions, the newest first."""
        return await self._database.read(_copies_by_turn)

    async def are_open(self, session_ids: frozenset[str]) -> frozenset[str]:
        """Those in which some process works right now."""
        return await self._database.read(
            lambda _: frozenset(session_id for session_id in session_ids if self._is_open(session_id))
        )

    def _is_open(self, session_id: str) -> bool:
        if self._claims.holds(session_id):
            return True
        is_free = self._claims.take(session_id)
        if is_free:
            self._claims.release(session_id)
        return not is_free


def _copies_by_turn(connection: sqlite3.Connection) -> tuple[TurnCopies, ...]:
    rows = connection.execute(
        "SELECT session_id, directory, turn, changes.created, before_content, after_content "
        "FROM changes JOIN sessions ON id = session_id"
    )
    found: dict[tuple[str, int], tuple[str, float, set[str]]] = {}
    for session_id, directory, turn, created, before, after in rows:
        _, newest, contents = found.get((session_id, turn), ("", 0.0, set[str]()))
        contents.update(content for content in (before, after) if content)
        found[session_id, turn] = (directory, max(newest, created), contents)
    turns = (
        TurnCopies(session_id, unpack_text(directory), turn, created, frozenset(contents))
        for (session_id, turn), (directory, created, contents) in found.items()
    )
    return tuple(sorted(turns, key=lambda each: each.created, reverse=True))
