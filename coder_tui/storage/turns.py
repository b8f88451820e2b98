"""Where each turn of a session begins, and which turns were taken back."""

import sqlite3
from dataclasses import dataclass

from coder_tui.protocol.todos import TodoItem
from coder_tui.storage.codec import pack_todos, unpack_message, unpack_todos
from coder_tui.storage.database import Database, readable

FOR_GOOD = 2
"""In `changes.is_undone`: taken back, and never to be made again."""


_WITH_THE_TURN_BEFORE = (
    "FROM (SELECT max(turn) AS last FROM turns "
    "JOIN messages ON messages.session_id = turns.session_id AND seq = first_seq WHERE "
    "turns.session_id = :id AND NOT is_unsaid AND unsaid_with IS NULL AND role = 'user') AS said "
    "WHERE session_id = :id AND turn > said.last "
    "AND turn < (SELECT max(turn) FROM turns WHERE session_id = :id)"
)


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """`text` is what the person wrote. What was taken back can be made again until something else is said."""

    turn: int
    text: str
    is_said_undone: bool
    are_files_undone: bool
    todos_before: tuple[TodoItem, ...]
    todos_after: tuple[TodoItem, ...]


class Turns:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin_turn(self, session_id: str, turn: int) -> None:
        """Its changes are its own from here on; nothing is said in it yet, and perhaps never will be."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT INTO turns (session_id, turn, first_seq, todos_before) "
                "SELECT id, ?, (SELECT coalesce(max(seq), 0) + 1 FROM messages WHERE session_id = id), todos "
                "FROM sessions WHERE id = ?",
                (turn, session_id),
            )

        await self._database.write(work)

    async def turns(self, session_id: str) -> tuple[TurnRecord, ...]:
        """Those that count or can be made again, in order; the ones in which nothing was said do not."""
        return await self._database.read(lambda connection: _turns(connection, session_id))

    async def unsay(self, session_id: str, turn: int, todos: tuple[TodoItem, ...]) -> None:
        """Take back what was said in a turn and later; `todos` are as they are now."""

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

    async def say_again(self, session_id: str, turn: int) -> None:
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
        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE turns SET are_files_undone = ? WHERE session_id = ? AND turn = ?",
                (int(undone), session_id, turn),
            )

        await self._database.write(work)


def turn_in_effect(connection: sqlite3.Connection, session_id: str, turn: int) -> int:
    """The turn that a change of now belongs to: one that is taken back leaves it to the one before."""
    row = connection.execute(
        "SELECT turn FROM turns WHERE session_id = ? AND turn <= ? "
        "AND NOT is_unsaid AND NOT are_files_undone ORDER BY turn DESC LIMIT 1",
        (session_id, turn),
    )
    found = row.fetchone()
    return turn if found is None else int(found[0])


def settle(connection: sqlite3.Connection, session_id: str) -> None:
    """Before something is said: what was taken back cannot be made again.

    Files that were kept then go with the turn before. What the turn that speaks has changed stays its own.
    """
    open_ones = (
        "SELECT 1 FROM turns WHERE session_id = ? AND ((is_unsaid AND NOT is_over) OR are_files_undone)"
    )
    if connection.execute(open_ones, (session_id,)).fetchone() is None:
        return
    connection.execute(
        "UPDATE changes SET is_undone = ? WHERE session_id = ? AND is_undone", (FOR_GOOD, session_id)
    )
    # Of commands whose files are gone for good nothing is to be told any more.
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
    """The highest number that a turn ever had: each names one turn only."""
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
        # A turn that was stopped before its first word left its place to the next one.
        "SELECT max(turn) FROM turns WHERE session_id = :id GROUP BY first_seq) ORDER BY turn",
        {"id": session_id},
    )
    return tuple(_record(row) for row in rows)


def _record(row: tuple[int, str, int, int, str, str]) -> TurnRecord:
    turn, body, is_unsaid, are_files_undone, before, after = row
    message = next(readable((body,), unpack_message), None)
    text = message.text if message is not None and message.role == "user" else ""
    todos = (next(readable((each,), unpack_todos), ()) for each in (before, after))
    return TurnRecord(turn, text, bool(is_unsaid), bool(are_files_undone), *todos)
