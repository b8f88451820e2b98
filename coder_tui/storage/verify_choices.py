"""Which check a person chose for each folder."""

import sqlite3

from coder_tui.storage.codec import pack_text, unpack_text
from coder_tui.storage.database import Database


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
