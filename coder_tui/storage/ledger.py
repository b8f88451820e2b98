"""What is kept beside a session's messages: todos, usage, decisions."""

import sqlite3
import time

from coder_tui.protocol.todos import TodoItem
from coder_tui.protocol.usage import Usage
from coder_tui.storage.codec import pack_text, pack_todos, unpack_text, unpack_todos
from coder_tui.storage.damage import readable
from coder_tui.storage.database import Database
from coder_tui.storage.records import DecisionRecord
from coder_tui.storage.redaction import Redaction
from coder_tui.storage.spending import PaidCall, PaidDay, paid_calls, paid_days

_ADD_USAGE = (
    "INSERT INTO usage (session_id, message_id, model, input_tokens, output_tokens, cached_tokens, "
    "cache_write_tokens, reasoning_tokens, cost, turn, child_id, created) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


class Ledger:
    def __init__(self, database: Database, redaction: Redaction) -> None:
        self._database = database
        self._redaction = redaction

    async def set_todos(self, session_id: str, items: tuple[TodoItem, ...]) -> None:
        packed = pack_todos(self._redaction.todos(items))

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE sessions SET todos = ? WHERE id = ?", (packed, session_id))

        await self._database.write(work)

    async def todos(self, session_id: str) -> tuple[TodoItem, ...]:
        return await self._database.read(lambda connection: todos_of(connection, session_id))

    async def add_usage(
        self,
        session_id: str,
        message_id: str,
        model: str,
        usage: Usage,
        turn: int = 0,
        child_id: str = "",
    ) -> None:
        """Count a model call that was paid for, whether or not its message was kept."""
        values = (
            session_id,
            pack_text(message_id),
            pack_text(model),
            usage.input_tokens,
            usage.output_tokens,
            usage.cached_tokens,
            usage.cache_write_tokens,
            usage.reasoning_tokens,
            usage.cost,
            turn,
            child_id,
            time.time(),
        )

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(_ADD_USAGE, values)

        await self._database.write(work)

    async def usage(self, session_id: str) -> Usage:
        return await self._database.read(lambda connection: usage_of(connection, session_id))

    async def paid_calls(self, session_id: str) -> tuple[PaidCall, ...]:
        return await self._database.read(lambda connection: paid_calls(connection, session_id))

    async def paid_days(self, most: int) -> tuple[PaidDay, ...]:
        return await self._database.read(lambda connection: paid_days(connection, most))

    async def add_decision(self, session_id: str, decision: DecisionRecord) -> None:
        decision = self._redaction.decision(decision)
        fields = (
            decision.call_id,
            decision.tool,
            decision.effect,
            decision.rule,
            decision.source,
            decision.answer,
        )

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT INTO decisions SELECT ?, coalesce(max(seq), 0) + 1, ?, ?, ?, ?, ?, ?, ? "
                "FROM decisions WHERE session_id = ?",
                (session_id, *map(pack_text, fields), time.time(), session_id),
            )

        await self._database.write(work)

    async def decisions(self, session_id: str) -> tuple[DecisionRecord, ...]:
        def work(connection: sqlite3.Connection) -> tuple[DecisionRecord, ...]:
            rows = connection.execute(
                "SELECT call_id, tool, effect, rule, source, answer FROM decisions "
                "WHERE session_id = ? ORDER BY seq",
                (session_id,),
            )
            return tuple(readable(rows, lambda row: DecisionRecord(*map(unpack_text, row))))

        return await self._database.read(work)


def todos_of(connection: sqlite3.Connection, session_id: str) -> tuple[TodoItem, ...]:
    row = connection.execute("SELECT todos FROM sessions WHERE id = ?", (session_id,)).fetchone()
    return next(readable((row[0],), unpack_todos), ()) if row else ()


def usage_of(connection: sqlite3.Connection, session_id: str) -> Usage:
    row = connection.execute(
        "SELECT total(input_tokens), total(output_tokens), total(cached_tokens), "
        "total(cache_write_tokens), total(reasoning_tokens), sum(cost) FROM usage WHERE session_id = ?",
        (session_id,),
    ).fetchone()
    given, written, cached, cache_written, reasoned, cost = row
    return Usage(int(given), int(written), int(cached), int(cache_written), int(reasoned), cost)
