"""The store of sessions, for the agent and the command line."""

import sqlite3
from pathlib import Path

from coder_tui.storage.blobs import CopyAges
from coder_tui.storage.command_records import CommandRecords
from coder_tui.storage.database import Damage, Database
from coder_tui.storage.forks import Forks, Trash, Trashed
from coder_tui.storage.half_written import Claims
from coder_tui.storage.index import Hit, Search, SessionIndex, info_of
from coder_tui.storage.ledger import DecisionTable, TodoTable, UsageLedger, last_costs, todos_of, usage_of
from coder_tui.storage.manifest import Manifest
from coder_tui.storage.records import (
    CallRecord,
    DecisionRecord,
    FinishedCall,
    SessionInfo,
    StoredCall,
    StoredSession,
)
from coder_tui.storage.redaction import Redaction
from coder_tui.storage.session_state import (
    ActiveProfileTable,
    Compactions,
    StoredProfile,
    SubagentTable,
    VerifyChoiceTable,
    children_of,
    close_lost_children,
    compactions_of,
)
from coder_tui.storage.transcript import (
    CallTable,
    MessageTable,
    calls_of,
    close_unfinished_calls,
    count_calls,
    messages_of,
)
from coder_tui.storage.turns import TurnRecord, Turns, last_turn_of
from coder_tui.text.redact import BY_SHAPE, Redactor

__all__ = [
    "CallRecord",
    "DecisionRecord",
    "FinishedCall",
    "Hit",
    "SessionInfo",
    "Store",
    "StoredCall",
    "StoredProfile",
    "StoredSession",
    "Trashed",
    "TurnRecord",
]


class Store:
    """Has one part for each family of tables.

    When a method that changes something returns, the change is on disk, without secrets.
    """

    def __init__(self, database: Database, claims: Claims, redaction: Redaction) -> None:
        self._database = database
        self._claims = claims
        self.sessions = SessionIndex(database, claims, redaction)
        self.messages = MessageTable(database, redaction)
        self.calls = CallTable(database, redaction)
        self.decisions = DecisionTable(database, redaction)
        self.turns = Turns(database)
        self.todos = TodoTable(database, redaction)
        self.usage = UsageLedger(database)
        self.changes = Manifest(database)
        self.command_records = CommandRecords(database)
        self.copies = CopyAges(database, claims)
        self.subagents = SubagentTable(database, redaction)
        self.profiles = ActiveProfileTable(database, redaction)
        self.compactions = Compactions(database, redaction)
        self.verify = VerifyChoiceTable(database)
        self.search = Search(database)
        self.trash = Trash(database, claims)
        self.forks = Forks(database)

    @classmethod
    async def open(cls, path: Path, redact: Redactor = BY_SHAPE) -> "Store":
        """Open or create the database at `path`; raise `StorageError` if that fails."""
        return cls(await Database.open(path), Claims(path.parent / "locks"), Redaction(redact))

    @property
    def path(self) -> Path:
        return self._database.path

    async def close(self) -> None:
        """Finish pending work and release all claims."""
        await self._database.close()
        self._claims.release_all()

    async def close_unfinished(self, session_id: str) -> tuple[str, ...]:
        """Give each call without a result one that says so, after the program was killed."""

        def work(connection: sqlite3.Connection) -> tuple[str, ...]:
            close_lost_children(connection, session_id)
            return close_unfinished_calls(connection, session_id)

        return await self._database.write(work)

    async def load(self, session_id: str) -> StoredSession:
        """Load a session; unreadable parts are left out and counted."""

        def work(connection: sqlite3.Connection) -> StoredSession:
            said, calls = messages_of(connection, session_id), calls_of(connection, session_id)
            lost_calls = count_calls(connection, session_id) - len(calls)
            return StoredSession(
                info_of(connection, session_id),
                said.messages,
                calls,
                todos_of(connection, session_id),
                usage_of(connection, session_id),
                children_of(connection, session_id),
                last_turn_of(connection, session_id),
                compactions_of(connection, session_id),
                Damage(said.lost, lost_calls, said.garbled),
                last_costs(connection, session_id),
            )

        return await self._database.read(work)
