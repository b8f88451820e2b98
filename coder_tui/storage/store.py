"""The store of sessions, as the orchestrator and the command line use it."""

import sqlite3
from pathlib import Path

from coder_tui.protocol.display import DisplayBlock
from coder_tui.protocol.messages import Message, ToolMessage
from coder_tui.protocol.outcomes import Outcome
from coder_tui.storage.blobs import CopyAges
from coder_tui.storage.children import Children, children_of, close_lost_children
from coder_tui.storage.claims import Claims
from coder_tui.storage.command_records import CommandRecords
from coder_tui.storage.database import Damage, Database
from coder_tui.storage.forks import Forking, Trash, Trashed
from coder_tui.storage.index import SessionIndex, info_of, touch
from coder_tui.storage.ledger import Ledger, last_costs, todos_of, usage_of
from coder_tui.storage.manifest import Manifest
from coder_tui.storage.records import CallRecord, DecisionRecord, SessionInfo, StoredCall, StoredSession
from coder_tui.storage.recovery import close_unfinished_calls
from coder_tui.storage.redaction import Redaction
from coder_tui.storage.search import Hit, Search
from coder_tui.storage.session_state import (
    Compactions,
    Leading,
    StoredLead,
    VerifyChoiceTable,
    compactions_of,
)
from coder_tui.storage.transcript import (
    calls_of,
    count_calls,
    end_call,
    insert_call,
    insert_message,
    messages_of,
    sent_texts,
)
from coder_tui.storage.turns import TurnRecord, Turns, last_turn_of, settle
from coder_tui.text.redact import BY_SHAPE, Redactor

__all__ = [
    "CallRecord",
    "DecisionRecord",
    "Hit",
    "SessionInfo",
    "Store",
    "StoredCall",
    "StoredLead",
    "StoredSession",
    "Trashed",
    "TurnRecord",
]


class Store(
    SessionIndex,
    Ledger,
    Manifest,
    CommandRecords,
    Children,
    Leading,
    Turns,
    Compactions,
    VerifyChoiceTable,
    Search,
    Trash,
    Forking,
    CopyAges,
):
    """Every method that changes something has it on disk when it returns, and nothing secret is among it."""

    def __init__(self, database: Database, claims: Claims, redaction: Redaction) -> None:
        SessionIndex.__init__(self, database, claims, redaction)
        Ledger.__init__(self, database, redaction)
        Manifest.__init__(self, database)
        CommandRecords.__init__(self, database)
        Children.__init__(self, database, redaction)
        Leading.__init__(self, database, redaction)
        Turns.__init__(self, database)
        Compactions.__init__(self, database, redaction)
        VerifyChoiceTable.__init__(self, database)
        Search.__init__(self, database)
        Trash.__init__(self, database, claims)
        Forking.__init__(self, database)
        CopyAges.__init__(self, database, claims)
        self._redaction = redaction

    @classmethod
    async def open(cls, path: Path, redact: Redactor = BY_SHAPE) -> "Store":
        """Open the database at `path`, or create it; `StorageError` where that cannot be."""
        return cls(await Database.open(path), Claims(path.parent / "locks"), Redaction(redact))

    @property
    def path(self) -> Path:
        return self._database.path

    async def close(self) -> None:
        """Finish what was asked for, let go of all claims."""
        await self._database.close()
        self._claims.release_all()

    async def add_message(self, session_id: str, message: Message) -> int:
        """Append; returns the message's place in the session."""

        def work(connection: sqlite3.Connection) -> int:
            touch(connection, session_id)
            if message.role == "user":
                # Not when a turn begins: one that comes to no message must not cost a redo.
                settle(connection, session_id)
            return insert_message(connection, session_id, self._redaction.message(message))

        return await self._database.write(work)

    async def record_call(self, session_id: str, call: CallRecord) -> None:
        """Note a call before it runs, so that a crash cannot hide that it may have run."""

        def work(connection: sqlite3.Connection) -> None:
            insert_call(connection, session_id, self._redaction.record(call))

        await self._database.write(work)

    async def finish_call(
        self,
        session_id: str,
        call_id: str,
        outcome: Outcome,
        result: str,
        summary: str,
        display: DisplayBlock,
        duration_ms: int,
        tool_message: ToolMessage,
    ) -> None:
        """Note how a call ended together with the message that tells the model, both or neither."""

        def work(connection: sqlite3.Connection) -> None:
            clean = self._redaction
            told, shown = clean.json_text(result), clean.display(display)
            end_call(connection, session_id, call_id, outcome, told, clean.text(summary), shown, duration_ms)
            insert_message(connection, session_id, clean.tool_message(tool_message))
            touch(connection, session_id)

        await self._database.write(work)

    async def finish_inner_call(
        self,
        session_id: str,
        call_id: str,
        outcome: Outcome,
        result: str,
        summary: str,
        display: DisplayBlock,
        duration_ms: int,
    ) -> None:
        """Note how a call inside of another ended; the model hears of it by the other's result."""

        def work(connection: sqlite3.Connection) -> None:
            clean = self._redaction
            told, shown = clean.json_text(result), clean.display(display)
            end_call(connection, session_id, call_id, outcome, told, clean.text(summary), shown, duration_ms)

        await self._database.write(work)

    async def close_unfinished(self, session_id: str) -> tuple[str, ...]:
        """Give each call without a result one that says so; for a session whose program was killed."""

        def work(connection: sqlite3.Connection) -> tuple[str, ...]:
            close_lost_children(connection, session_id)
            return close_unfinished_calls(connection, session_id)

        return await self._database.write(work)

    async def sent_before(self, directory: str, most: int) -> tuple[str, ...]:
        """What the person wrote in a folder, the newest `most` messages of all its sessions, oldest first."""
        return await self._database.read(lambda connection: sent_texts(connection, directory, most))

    async def load(self, session_id: str) -> StoredSession:
        """What cannot be read of it is left out, and counted."""

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
