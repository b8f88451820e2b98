"""Which profile leads each session, and the plan that it carries out.

Which check a person chose for each folder.

Which parts of a conversation a model is no longer sent, and what stands in their place.
"""

import json
import sqlite3
import time
from dataclasses import dataclass

from coder_tui.protocol.messages import Compaction
from coder_tui.storage.codec import pack_text, unpack_text
from coder_tui.storage.database import Database, readable
from coder_tui.storage.redaction import Redaction


@dataclass(frozen=True, slots=True)
class StoredLead:
    """Empty where nothing was chosen."""

    profile: str = ""
    plan: str = ""


class Leading:
    def __init__(self, database: Database, redaction: Redaction) -> None:
        self._database = database
        self._redaction = redaction

    async def set_profile(self, session_id: str, profile: str) -> None:
        await self._put(session_id, "profile", profile)

    async def set_plan(self, session_id: str, plan: str) -> None:
        await self._put(session_id, "plan", self._redaction.text(plan))

    async def lead(self, session_id: str) -> StoredLead:
        def work(connection: sqlite3.Connection) -> StoredLead:
            row = connection.execute(
                "SELECT profile, plan FROM leads WHERE session_id = ?", (session_id,)
            ).fetchone()
            return StoredLead(*map(unpack_text, row)) if row else StoredLead()

        return await self._database.read(work)

    async def _put(self, session_id: str, column: str, value: str) -> None:
        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                f"INSERT INTO leads (session_id, {column}) VALUES (?, ?) "
                f"ON CONFLICT (session_id) DO UPDATE SET {column} = excluded.{column}",
                (session_id, pack_text(value)),
            )

        await self._database.write(work)


class VerifyChoiceTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def verify_choice(self, directory: str) -> str | None:
        """None where nobody chose yet; empty where they chose none."""

        def work(connection: sqlite3.Connection) -> str | None:
            row = connection.execute(
                "SELECT command FROM verify_choices WHERE directory = ?", (pack_text(directory),)
            ).fetchone()
            return None if row is None else unpack_text(row[0])

        return await self._database.read(work)

    async def choose_verify(self, directory: str, command: str) -> None:
        row = (pack_text(directory), pack_text(command))

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT INTO verify_choices VALUES (?, ?) "
                "ON CONFLICT (directory) DO UPDATE SET command = excluded.command",
                row,
            )

        await self._database.write(work)


class Compactions:
    def __init__(self, database: Database, redaction: Redaction) -> None:
        self._database = database
        self._redaction = redaction

    async def add_compaction(
        self, session_id: str, last_id: str, summary: str, pruned: frozenset[str]
    ) -> Compaction:
        clean = self._redaction.text(summary)
        row = (pack_text(last_id), pack_text(clean), pack_text(json.dumps(sorted(pruned))))

        def work(connection: sqlite3.Connection) -> Compaction:
            (number,) = connection.execute(
                "SELECT coalesce(max(number), 0) + 1 FROM compactions WHERE session_id = ?", (session_id,)
            ).fetchone()
            connection.execute(
                "INSERT INTO compactions (session_id, number, last_id, summary, pruned, created) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (session_id, number, *row, time.time()),
            )
            return Compaction(number, last_id, clean, pruned)

        return await self._database.write(work)

    async def drop_compaction(self, session_id: str, number: int) -> None:
        """The model is sent again what it stood for."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE compactions SET is_undone = 1 WHERE session_id = ? AND number = ?",
                (session_id, number),
            )

        await self._database.write(work)

    async def add_pin(self, session_id: str, text: str) -> None:
        """Words that every later summary carries on."""
        row = (session_id, pack_text(self._redaction.text(text)))

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT INTO pins (session_id, text) VALUES (?, ?)", row)

        await self._database.write(work)

    async def pins(self, session_id: str) -> tuple[str, ...]:
        def work(connection: sqlite3.Connection) -> tuple[str, ...]:
            rows = connection.execute(
                "SELECT text FROM pins WHERE session_id = ? ORDER BY rowid", (session_id,)
            )
            return tuple(readable(rows, lambda row: unpack_text(row[0])))

        return await self._database.read(work)


def compactions_of(connection: sqlite3.Connection, session_id: str) -> tuple[Compaction, ...]:
    """Those in effect, in order."""
    rows = connection.execute(
        "SELECT number, last_id, summary, pruned FROM compactions "
        "WHERE session_id = ? AND NOT is_undone ORDER BY number",
        (session_id,),
    )
    return tuple(readable(rows, _compaction))


def _compaction(row: tuple[int, str, str, str]) -> Compaction:
    number, last_id, summary, pruned = row
    calls = frozenset(json.loads(unpack_text(pruned)))
    return Compaction(number, unpack_text(last_id), unpack_text(summary), calls)
