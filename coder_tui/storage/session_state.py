"""The state around a session's messages: mode, profile, plan, compactions and sub-agents.

Also the check command that the user chose for each folder.
"""

import json
import sqlite3
import time
from dataclasses import dataclass

from coder_tui.protocol.access import Mode
from coder_tui.protocol.messages import Compaction
from coder_tui.protocol.subagents import ChildLine, ChildState
from coder_tui.storage.database import Table, skip_unreadable
from coder_tui.storage.index import new_session_id, set_column
from coder_tui.storage.records import pack_text, unpack_text
from coder_tui.storage.redaction import RedactedTable


@dataclass(frozen=True, slots=True)
class StoredProfile:
    """The profile and plan of a session, "" if none was chosen."""

    profile: str = ""
    plan: str = ""


class ActiveProfileTable(RedactedTable):
    async def set_mode(self, session_id: str, mode: Mode) -> None:
        await self._database.write(lambda connection: set_column(connection, session_id, "mode", mode))

    async def set_profile(self, session_id: str, profile: str) -> None:
        await self._put(session_id, "profile", profile)

    async def set_plan(self, session_id: str, plan: str) -> None:
        await self._put(session_id, "plan", self._redaction.text(plan))

    async def get(self, session_id: str) -> StoredProfile:
        def work(connection: sqlite3.Connection) -> StoredProfile:
            row = connection.execute(
                "SELECT profile, plan FROM leads WHERE session_id = ?", (session_id,)
            ).fetchone()
            return StoredProfile(*map(unpack_text, row)) if row else StoredProfile()

        return await self._database.read(work)

    async def _put(self, session_id: str, column: str, value: str) -> None:
        await self._database.execute(
            f"INSERT INTO leads (session_id, {column}) VALUES (?, ?) "
            f"ON CONFLICT (session_id) DO UPDATE SET {column} = excluded.{column}",
            (session_id, pack_text(value)),
        )


class VerifyChoiceTable(Table):
    async def get(self, directory: str) -> str | None:
        """Return the chosen command; None if the user has not chosen yet, "" if they chose none."""

        def work(connection: sqlite3.Connection) -> str | None:
            row = connection.execute(
                "SELECT command FROM verify_choices WHERE directory = ?", (pack_text(directory),)
            ).fetchone()
            return None if row is None else unpack_text(row[0])

        return await self._database.read(work)

    async def set(self, directory: str, command: str) -> None:
        row = (pack_text(directory), pack_text(command))
        await self._database.execute(
            "INSERT INTO verify_choices VALUES (?, ?) "
            "ON CONFLICT (directory) DO UPDATE SET command = excluded.command",
            row,
        )


class Compactions(RedactedTable):
    async def add(self, session_id: str, last_id: str, summary: str, pruned: frozenset[str]) -> Compaction:
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

    async def drop(self, session_id: str, number: int) -> None:
        """Undo a compaction: the model gets the original messages again."""
        await self._database.execute(
            "UPDATE compactions SET is_undone = 1 WHERE session_id = ? AND number = ?",
            (session_id, number),
        )

    async def add_pin(self, session_id: str, text: str) -> None:
        """Add a text that every later summary keeps."""
        row = (session_id, pack_text(self._redaction.text(text)))
        await self._database.execute("INSERT INTO pins (session_id, text) VALUES (?, ?)", row)

    async def pins(self, session_id: str) -> tuple[str, ...]:
        def work(connection: sqlite3.Connection) -> tuple[str, ...]:
            rows = connection.execute(
                "SELECT text FROM pins WHERE session_id = ? ORDER BY rowid", (session_id,)
            )
            return tuple(skip_unreadable(rows, lambda row: unpack_text(row[0])))

        return await self._database.read(work)


def compactions_of(connection: sqlite3.Connection, session_id: str) -> tuple[Compaction, ...]:
    """Return the compactions in effect, in order."""
    rows = connection.execute(
        "SELECT number, last_id, summary, pruned FROM compactions "
        "WHERE session_id = ? AND NOT is_undone ORDER BY number",
        (session_id,),
    )
    return tuple(skip_unreadable(rows, _compaction))


def _compaction(row: tuple[int, str, str, str]) -> Compaction:
    number, last_id, summary, pruned = row
    calls = frozenset(json.loads(unpack_text(pruned)))
    return Compaction(number, unpack_text(last_id), unpack_text(summary), calls)


LOST = "The program exited before this sub-agent finished."


class SubagentTable(RedactedTable):
    """Sub-agents' conversations: sessions of their own that belong to a call and appear in no list.

    Their messages and calls are stored like those of any session, under the sub-agent's id.
    """

    async def add(self, parent_id: str, call_id: str, agent: str, task: str, model: str) -> str:
        """Add a sub-agent of a call; return its id."""
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

    async def end(self, child_id: str, state: ChildState, summary: str, seconds: int) -> None:
        packed = pack_text(self._redaction.text(summary))
        await self._database.execute(
            "UPDATE children SET state = ?, summary = ?, seconds = ? WHERE child_id = ?",
            (state, packed, seconds, child_id),
        )

    async def list(self, parent_id: str) -> tuple[ChildLine, ...]:
        """Return all sub-agents of a session, in the order in which they were started."""
        by_call = await self._database.read(lambda connection: children_of(connection, parent_id))
        return tuple(line for lines in by_call.values() for line in lines)


def children_of(connection: sqlite3.Connection, parent_id: str) -> dict[str, tuple[ChildLine, ...]]:
    """Return the sub-agents of each call, in the order in which they were started, without messages."""
    rows = connection.execute(
        "SELECT call_id, id, agent, title, state, summary, seconds, "
        "(SELECT sum(cost) FROM usage WHERE session_id = id) "
        "FROM children JOIN sessions ON id = child_id WHERE parent_id = ? ORDER BY children.rowid",
        (parent_id,),
    )
    found: dict[str, tuple[ChildLine, ...]] = {}
    for call_id, line in skip_unreadable(rows, _child):
        found[call_id] = (*found.get(call_id, ()), line)
    return found


def _child(row: tuple[str, str, str, str, str, str, int, float | None]) -> tuple[str, ChildLine]:
    """Return a sub-agent with the call that started it."""
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
    """Mark unfinished sub-agents as stopped: none survives a restart of the program."""
    connection.execute(
        "UPDATE children SET state = ?, summary = ? WHERE state IN (?, ?) "
        "AND child_id IN (SELECT id FROM sessions WHERE parent_id = ?)",
        (ChildState.STOPPED, LOST, ChildState.QUEUED, ChildState.RUNNING, parent_id),
    )
