"""A session's todos, decisions and model usage, with costs by call and by day."""

import sqlite3
import time
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from coder_tui.protocol.messages import Usage
from coder_tui.protocol.todos import TodoItem
from coder_tui.storage.database import Table, skip_unreadable, to_datetime
from coder_tui.storage.records import DecisionRecord, pack_text, pack_todos, unpack_text, unpack_todos
from coder_tui.storage.redaction import RedactedTable


@dataclass(frozen=True, slots=True)
class PaidCall:
    """One call of a model. `agent` is "" for the main agent, `turn` is 0 if unknown."""

    created: datetime
    model: str
    usage: Usage
    turn: int
    agent: str
    tools: tuple[str, ...]
    """The tools that its reply called."""


@dataclass(frozen=True, slots=True)
class PaidDay:
    """All sessions of one day, by local time; `unpriced` counts calls of models without a price."""

    day: date
    usage: Usage
    calls: int
    unpriced: int


_TOKENS = "input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens"
# Usage of sub-agents is in the table twice: for their own conversation, and for the session that pays.
_CALLS = f"""
    SELECT created, model, turn, message_id, coalesce(agent, ''), {_TOKENS}, cost
    FROM usage LEFT JOIN children ON children.child_id = usage.child_id
    WHERE session_id = ? ORDER BY usage.rowid
"""
# The other columns come from the row with the highest rowid, as SQLite guarantees for max().
_LAST_COSTS = """
    SELECT model, cost, max(rowid) FROM usage WHERE session_id = ? AND cost IS NOT NULL GROUP BY model
"""
_TOOLS = """
    SELECT message_id, tool FROM calls
    WHERE session_id IN (SELECT id FROM sessions WHERE id = :id OR parent_id = :id) ORDER BY rowid
"""
_DAYS = f"""
    SELECT date(created, 'unixepoch', 'localtime') AS day, count(*), count(*) - count(cost),
        {", ".join(f"sum({column})" for column in _TOKENS.split(", "))}, sum(cost)
    FROM usage WHERE session_id IN (SELECT id FROM sessions WHERE parent_id IS NULL)
    GROUP BY day ORDER BY day DESC LIMIT ?
"""


def paid_calls(connection: sqlite3.Connection, session_id: str) -> tuple[PaidCall, ...]:
    """Return the calls of a session and its sub-agents, in order."""
    tools: dict[str, list[str]] = {}
    for message_id, tool in connection.execute(_TOOLS, {"id": session_id}):
        tools.setdefault(message_id, []).append(unpack_text(tool))
    return tuple(
        PaidCall(
            to_datetime(created),
            unpack_text(model),
            Usage(*numbers),
            turn,
            unpack_text(agent),
            tuple(tools.get(message_id, ())),
        )
        for created, model, turn, message_id, agent, *numbers in connection.execute(_CALLS, (session_id,))
    )


def last_costs(connection: sqlite3.Connection, session_id: str) -> dict[str, float]:
    """Return the cost of each model's newest call."""
    rows = connection.execute(_LAST_COSTS, (session_id,))
    return {unpack_text(model): cost for model, cost, _ in rows}


def paid_days(connection: sqlite3.Connection, most: int) -> tuple[PaidDay, ...]:
    """Return the newest days with model calls, oldest first."""
    rows = connection.execute(_DAYS, (most,)).fetchall()
    return tuple(skip_unreadable(reversed(rows), _day))


def _day(row: tuple[Any, ...]) -> PaidDay:
    day, calls, unpriced, *numbers = row
    return PaidDay(date.fromisoformat(day), Usage(*numbers), calls, unpriced)


_ADD_USAGE = (
    "INSERT INTO usage (session_id, message_id, model, input_tokens, output_tokens, cached_tokens, "
    "cache_write_tokens, reasoning_tokens, cost, turn, child_id, created) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


class TodoTable(RedactedTable):
    async def set(self, session_id: str, items: tuple[TodoItem, ...]) -> None:
        packed = pack_todos(self._redaction.todos(items))
        await self._database.execute("UPDATE sessions SET todos = ? WHERE id = ?", (packed, session_id))

    async def get(self, session_id: str) -> tuple[TodoItem, ...]:
        return await self._database.read(lambda connection: todos_of(connection, session_id))


class UsageLedger(Table):
    async def add(
        self,
        session_id: str,
        message_id: str,
        model: str,
        usage: Usage,
        turn: int = 0,
        child_id: str = "",
    ) -> None:
        """Record a paid model call, whether or not its message was kept."""
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
        await self._database.execute(_ADD_USAGE, values)

    async def total(self, session_id: str) -> Usage:
        return await self._database.read(lambda connection: usage_of(connection, session_id))

    async def calls(self, session_id: str) -> tuple[PaidCall, ...]:
        return await self._database.read(lambda connection: paid_calls(connection, session_id))

    async def days(self, most: int) -> tuple[PaidDay, ...]:
        return await self._database.read(lambda connection: paid_days(connection, most))


class DecisionTable(RedactedTable):
    async def add(self, session_id: str, decision: DecisionRecord) -> None:
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

    async def list(self, session_id: str) -> tuple[DecisionRecord, ...]:
        def work(connection: sqlite3.Connection) -> tuple[DecisionRecord, ...]:
            rows = connection.execute(
                "SELECT call_id, tool, effect, rule, source, answer FROM decisions "
                "WHERE session_id = ? ORDER BY seq",
                (session_id,),
            )
            return tuple(skip_unreadable(rows, lambda row: DecisionRecord(*map(unpack_text, row))))

        return await self._database.read(work)


def todos_of(connection: sqlite3.Connection, session_id: str) -> tuple[TodoItem, ...]:
    row = connection.execute("SELECT todos FROM sessions WHERE id = ?", (session_id,)).fetchone()
    return next(skip_unreadable((row[0],), unpack_todos), ()) if row else ()


def usage_of(connection: sqlite3.Connection, session_id: str) -> Usage:
    row = connection.execute(
        "SELECT total(input_tokens), total(output_tokens), total(cached_tokens), "
        "total(cache_write_tokens), total(reasoning_tokens), sum(cost) FROM usage WHERE session_id = ?",
        (session_id,),
    ).fetchone()
    given, written, cached, cache_written, reasoned, cost = row
    return Usage(int(given), int(written), int(cached), int(cache_written), int(reasoned), cost)
