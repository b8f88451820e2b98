"""What model calls cost, one by one and by day: what reports about money are made of."""

import sqlite3
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from coder_tui.protocol.usage import Usage
from coder_tui.storage.codec import unpack_text
from coder_tui.storage.damage import moment, readable


@dataclass(frozen=True, slots=True)
class PaidCall:
    """One call of a model. `agent` is empty for the main one, `turn` 0 where it is not known."""

    created: datetime
    model: str
    usage: Usage
    turn: int
    agent: str
    tools: tuple[str, ...]
    """Those that its reply called."""


@dataclass(frozen=True, slots=True)
class PaidDay:
    """All sessions of one day, by this machine's clock; `unpriced` are calls of models without a price."""

    day: date
    usage: Usage
    calls: int
    unpriced: int


_TOKENS = "input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens"
# What sub-agents used stands in the table twice: by their own conversation, and by the session that pays.
_CALLS = f"""
    SELECT created, model, turn, message_id, coalesce(agent, ''), {_TOKENS}, cost
    FROM usage LEFT JOIN children ON children.child_id = usage.child_id
    WHERE session_id = ? ORDER BY usage.rowid
"""
# The other columns are those of the row with the highest rowid: SQLite says so of max().
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
    """Those of a session and of its sub-agents, in their order."""
    tools: dict[str, list[str]] = {}
    for message_id, tool in connection.execute(_TOOLS, {"id": session_id}):
        tools.setdefault(message_id, []).append(unpack_text(tool))
    return tuple(
        PaidCall(
            moment(created),
            unpack_text(model),
            Usage(*numbers),
            turn,
            unpack_text(agent),
            tuple(tools.get(message_id, ())),
        )
        for created, model, turn, message_id, agent, *numbers in connection.execute(_CALLS, (session_id,))
    )


def last_costs(connection: sqlite3.Connection, session_id: str) -> dict[str, float]:
    """What the newest call of each model cost."""
    rows = connection.execute(_LAST_COSTS, (session_id,))
    return {unpack_text(model): cost for model, cost, _ in rows}


def paid_days(connection: sqlite3.Connection, most: int) -> tuple[PaidDay, ...]:
    """The newest days on which a model was asked, oldest first."""
    rows = connection.execute(_DAYS, (most,)).fetchall()
    return tuple(readable(reversed(rows), _day))


def _day(row: tuple[Any, ...]) -> PaidDay:
    day, calls, unpriced, *numbers = row
    return PaidDay(date.fromisoformat(day), Usage(*numbers), calls, unpriced)
