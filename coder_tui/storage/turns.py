"""Where each turn of a session begins, and which turns were undone."""

import sqlite3
from dataclasses import dataclass

from coder_tui.protocol.todos import TodoItem
from coder_tui.storage.database import Table, skip_unreadable
from coder_tui.storage.records import pack_todos, unpack_message, unpack_todos

FOR_GOOD = 2
"""In `changes.is_undone`: undone, and can no longer be redone."""


_WITH_THE_TURN_BEFORE = (
    "FROM (SELECT max(turn) AS last FROM turns "
    "JOIN messages ON messages.session_id = turns.session_id AND seq = first_seq WHERE "
    "turns.session_id = :id AND NOT is_unsaid AND unsaid_with IS NULL AND role = 'user') AS said "
    "WHERE session_id = :id AND turn > said.last "
    "AND turn < (SELECT max(turn) FROM turns WHERE session_id = :id)"
)


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """`text` is the user's message. What was undone can be redone until another message is sent."""

    turn: int
    text: str
    is_said_undone: bool
    are_files_undone: bool
    todos_before: tuple[TodoItem, ...]
    todos_after: tuple[TodoItem, ...]


class Turns(Table):
    async def begin(self, session_id: str, turn: int) -> None:
        """Start a turn: changes from now on belong to it. It has no message yet, and may never get one."""
        await self._database.execute(
            "INSERT INTO turns (session_id, turn, first_seq, todos_before) "
            "SELECT id, ?, (SELECT coalesce(max(seq), 0) + 1 FROM messages WHERE session_id = id), todos "
            "FROM sessions WHERE id = ?",
            (turn, session_id),
        )

    async def list(self, session_id: str) -> tuple[TurnRecord, ...]:
        """Return the turns in effect and those that can be redone, in order; not those without a message."""
        return await self._database.read(lambda connection: _turns(connection, session_id))

    async def hide_messages(self, session_id: str, turn: int, todos: tuple[TodoItem, ...]) -> None:
        """Hide the messages of a turn and all later ones; `todos` is the present list."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE messages SET unsaid_with = :turn WHERE session_id = :id AND unsaid_with IS NULL "
                "AND seq >= (SELECT first_seq FROM turns WHERE session_id = :id AND turn = :turn)",
                {"id": session_id, "turn": turn},
            )
            connection.execute(
                "UPDATE turns SET is_unsaid = 1, todos_after = ? WHERE session_id = ? AND turn = ?",
                (pack_todos(todos), session_id, turn),
            )
            _bring_todos(connection, session_id, turn, "todos_before")

        await self._database.write(work)

    async def show_messages(self, session_id: str, turn: int) -> None:
        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE messages SET unsaid_with = NULL WHERE session_id = ? AND unsaid_with = ?",
                (session_id, turn),
            )
            connection.execute(
                "UPDATE turns SET is_unsaid = 0 WHERE session_id = ? AND turn = ?", (session_id, turn)
            )
            _bring_todos(connection, session_id, turn, "todos_after")

        await self._database.write(work)

    async def mark_files(self, session_id: str, turn: int, *, undone: bool) -> None:
        await self._database.execute(
            "UPDATE turns SET are_files_undone = ? WHERE session_id = ? AND turn = ?",
            (int(undone), session_id, turn),
        )


def turn_in_effect(connection: sqlite3.Connection, session_id: str, turn: int) -> int:
    """Return the turn that a change made now belongs to: the last one that is not undone."""
    row = connection.execute(
        "SELECT turn FROM turns WHERE session_id = ? AND turn <= ? "
        "AND NOT is_unsaid AND NOT are_files_undone ORDER BY turn DESC LIMIT 1",
        (session_id, turn),
    )
    found = row.fetchone()
    return turn if found is None else int(found[0])


def forget_redo(connection: sqlite3.Connection, session_id: str) -> None:
    """Make undone turns final, before a new message is stored: they can no longer be redone.

    Files that an undo kept now belong to the turn before. Changes of the newest turn stay its own.
    """
    open_ones = (
        "SELECT 1 FROM turns WHERE session_id = ? AND ((is_unsaid AND NOT is_over) OR are_files_undone)"
    )
    if connection.execute(open_ones, (session_id,)).fetchone() is None:
        return
    connection.execute(
        "UPDATE changes SET is_undone = ? WHERE session_id = ? AND is_undone", (FOR_GOOD, session_id)
    )
    # Commands whose files were undone for good need no report any more.
    connection.execute(
        "DELETE FROM commands WHERE session_id = :id AND turn IN "
        "(SELECT turn FROM turns WHERE session_id = :id AND are_files_undone)",
        {"id": session_id},
    )
    for moved in ("changes SET turn = said.last {} AND NOT is_undone", "commands SET turn = said.last {}"):
        connection.execute(f"UPDATE {moved.format(_WITH_THE_TURN_BEFORE)}", {"id": session_id})
    connection.execute(
        "UPDATE turns SET is_over = is_unsaid, are_files_undone = 0 WHERE session_id = ?", (session_id,)
    )


def last_turn_of(connection: sqlite3.Connection, session_id: str) -> int:
    """Return the highest number that a turn ever had: a number names only one turn."""
    row = connection.execute(
        "SELECT max("
        "(SELECT coalesce(max(turn), 0) FROM turns WHERE session_id = :id), "
        "(SELECT coalesce(max(turn), 0) FROM changes WHERE session_id = :id), "
        "(SELECT count(*) FROM messages WHERE session_id = :id AND role = 'user'))",
        {"id": session_id},
    )
    return int(row.fetchone()[0])


def _bring_todos(connection: sqlite3.Connection, session_id: str, turn: int, column: str) -> None:
    connection.execute(
        f"UPDATE sessions SET todos = (SELECT {column} FROM turns WHERE session_id = ? AND turn = ?) "
        "WHERE id = ?",
        (session_id, turn, session_id),
    )


def _turns(connection: sqlite3.Connection, session_id: str) -> tuple[TurnRecord, ...]:
    rows = connection.execute(
        "SELECT turn, body, is_unsaid, are_files_undone, todos_before, todos_after FROM turns "
        "JOIN messages ON messages.session_id = turns.session_id AND seq = first_seq "
        "WHERE turns.session_id = :id AND NOT (is_over AND is_unsaid) AND role = 'user' AND turn IN ("
        # A turn that was stopped before its first message left its position to the next one.
        "SELECT max(turn) FROM turns WHERE session_id = :id GROUP BY first_seq) ORDER BY turn",
        {"id": session_id},
    )
    return tuple(_record(row) for row in rows)


def _record(row: tuple[int, str, int, int, str, str]) -> TurnRecord:
    turn, body, is_unsaid, are_files_undone, before, after = row
    message = next(skip_unreadable((body,), unpack_message), None)
    text = message.text if message is not None and message.role == "user" else ""
    todos = (next(skip_unreadable((each,), unpack_todos), ()) for each in (before, after))
    return TurnRecord(turn, text, bool(is_unsaid), bool(are_files_undone), *todos)
