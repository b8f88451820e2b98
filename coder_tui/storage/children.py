"""Sub-agents' conversations: sessions of their own that hang on a call and are listed nowhere else."""

import sqlite3
import time

from coder_tui.protocol.subagents import ChildLine, ChildState
from coder_tui.storage.codec import pack_text, unpack_text
from coder_tui.storage.database import Database, readable
from coder_tui.storage.index import new_session_id
from coder_tui.storage.redaction import Redaction

LOST = "The program ended before it was done."


class Children:
    """Their messages and calls are kept as those of any session, by the child's id."""

    def __init__(self, database: Database, redaction: Redaction) -> None:
        self._database = database
        self._redaction = redaction

    async def add_child(self, parent_id: str, call_id: str, agent: str, task: str, model: str) -> str:
        """Make room for a sub-agent of a call; returns its id."""
        child_id = new_session_id()
        title = pack_text(self._redaction.text(task))

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT INTO sessions "
                "(id, title, directory, model, mode, created, updated, activity, parent_id) "
                "SELECT ?, ?, directory, ?, mode, ?, ?, 0, id FROM sessions WHERE id = ?",
                (child_id, title, pack_text(model), time.time(), time.time(), parent_id),
            )
            connection.execute(
                "INSERT INTO children (child_id, call_id, agent, state) VALUES (?, ?, ?, ?)",
                (child_id, pack_text(call_id), pack_text(agent), ChildState.QUEUED),
            )

        await self._database.write(work)
        return child_id

    async def end_child(self, child_id: str, state: ChildState, summary: str, seconds: int) -> None:
        told = pack_text(self._redaction.text(summary))

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE children SET state = ?, summary = ?, seconds = ? WHERE child_id = ?",
                (state, told, seconds, child_id),
            )

        await self._database.write(work)

    async def children(self, parent_id: str) -> tuple[ChildLine, ...]:
        """All sub-agents of a session, in the order in which they were asked for."""
        by_call = await self._database.read(lambda connection: children_of(connection, parent_id))
        return tuple(line for lines in by_call.values() for line in lines)


def children_of(connection: sqlite3.Connection, parent_id: str) -> dict[str, tuple[ChildLine, ...]]:
    """The sub-agents of each call, in the order in which they were asked for; not what they said."""
    rows = connection.execute(
        "SELECT call_id, id, agent, title, state, summary, seconds, "
        "(SELECT sum(cost) FROM usage WHERE session_id = id) "
        "FROM children JOIN sessions ON id = child_id WHERE parent_id = ? ORDER BY children.rowid",
        (parent_id,),
    )
    found: dict[str, tuple[ChildLine, ...]] = {}
    for call_id, line in readable(rows, _child):
        found[call_id] = (*found.get(call_id, ()), line)
    return found


def _child(row: tuple[str, str, str, str, str, str, int, float | None]) -> tuple[str, ChildLine]:
    """With the call that asked for it."""
    call_id, child_id, agent, title, state, summary, seconds, cost = row
    line = ChildLine(
        child_id,
        unpack_text(agent),
        unpack_text(title),
        ChildState(state),
        summary=unpack_text(summary),
        seconds=seconds,
        cost=cost,
    )
    return unpack_text(call_id), line


def close_lost_children(connection: sqlite3.Connection, parent_id: str) -> None:
    """None of them runs where the program was started anew."""
    connection.execute(
        "UPDATE children SET state = ?, summary = ? WHERE state IN (?, ?) "
        "AND child_id IN (SELECT id FROM sessions WHERE parent_id = ?)",
        (ChildState.STOPPED, LOST, ChildState.QUEUED, ChildState.RUNNING, parent_id),
    )
