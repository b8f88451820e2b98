"""Which profile leads each session, and the plan that it carries out."""

import sqlite3
from dataclasses import dataclass

from coder_tui.storage.codec import pack_text, unpack_text
from coder_tui.storage.database import Database
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
