"""The rows of a conversation: messages and the calls that belong to them."""

import sqlite3
import time
from dataclasses import dataclass

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import DisplayBlock
from coder_tui.protocol.messages import AssistantMessage, Message, ToolMessage
from coder_tui.protocol.outcomes import Outcome
from coder_tui.storage.codec import (
    pack_display,
    pack_message,
    pack_text,
    unpack_display,
    unpack_message,
    unpack_text,
)
from coder_tui.storage.database import decoded, readable
from coder_tui.storage.records import CallRecord, StoredCall

LONGEST_RECALLED = 20_000
"""Characters of a message that is offered again."""


def insert_message(
    connection: sqlite3.Connection, session_id: str, message: Message, seq: int | None = None
) -> int:
    """Append, or put at `seq`, which must be free; returns the place it got."""
    if seq is None:
        (seq,) = connection.execute(
            "SELECT coalesce(max(seq), 0) + 1 FROM messages WHERE session_id = ?", (session_id,)
        ).fetchone()
    connection.execute(
        "INSERT INTO messages (session_id, seq, message_id, role, body, created) VALUES (?, ?, ?, ?, ?, ?)",
        (session_id, seq, pack_text(message.id), message.role, pack_message(message), time.time()),
    )
    return seq


@dataclass(frozen=True, slots=True)
class Said:
    """Messages, each with its place; `lost` more cannot be read, `garbled` of them not wholly."""

    rows: tuple[tuple[int, Message], ...]
    lost: int
    garbled: int

    @property
    def messages(self) -> tuple[Message, ...]:
        """Without results whose call was lost, which no provider takes."""
        messages = tuple(message for _, message in self.rows)
        if not self.lost and not self.garbled:
            return messages
        asked = {call.id for each in messages if isinstance(each, AssistantMessage) for call in each.calls}
        return tuple(each for each in messages if not isinstance(each, ToolMessage) or each.call_id in asked)


def messages_of(connection: sqlite3.Connection, session_id: str) -> Said:
    """Those that count."""
    stored = connection.execute(
        "SELECT seq, CAST(body AS BLOB) FROM messages "
        "WHERE session_id = ? AND unsaid_with IS NULL ORDER BY seq",
        (session_id,),
    ).fetchall()
    rows = tuple(readable(stored, lambda row: (row[0], *_message(row[1]))))
    garbled = sum(not is_whole for *_, is_whole in rows)
    return Said(tuple((seq, message) for seq, message, _ in rows), len(stored) - len(rows), garbled)


def _message(body: bytes) -> tuple[Message, bool]:
    """With whether all of its characters could be read."""
    try:
        return unpack_message(body.decode()), True
    except UnicodeDecodeError:
        return unpack_message(decoded(body)), False


def sent_texts(connection: sqlite3.Connection, directory: str, most: int) -> tuple[str, ...]:
    """Without what messages bring along, which may be pictures: only the words are read."""
    rows = connection.execute(
        "SELECT json_extract(body, '$.text') AS text FROM messages JOIN sessions ON sessions.id = session_id "
        "WHERE directory = ? AND parent_id IS NULL AND trashed IS NULL AND role = 'user' "
        "AND json_valid(body) AND json_extract(body, '$.is_typed') IS NOT 0 AND length(text) <= ? "
        "ORDER BY messages.rowid DESC LIMIT ?",
        (pack_text(directory), LONGEST_RECALLED, most),
    ).fetchall()
    return tuple(text for (text,) in reversed(rows) if isinstance(text, str))


def make_room(connection: sqlite3.Connection, session_id: str, after: int, count: int) -> None:
    """Move the messages behind `after` by `count` places; by way of negative numbers, for none may meet."""
    connection.execute("UPDATE messages SET seq = -seq WHERE session_id = ? AND seq > ?", (session_id, after))
    connection.execute(
        "UPDATE messages SET seq = ? - seq WHERE session_id = ? AND seq < 0", (count, session_id)
    )
    connection.execute(
        "UPDATE turns SET first_seq = first_seq + ? WHERE session_id = ? AND first_seq > ?",
        (count, session_id, after),
    )


def insert_call(connection: sqlite3.Connection, session_id: str, record: CallRecord) -> None:
    connection.execute(
        "INSERT INTO calls "
        "(session_id, call_id, message_id, tool, arguments, proposed_summary, kind, started) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            session_id,
            pack_text(record.call_id),
            pack_text(record.message_id),
            pack_text(record.tool),
            pack_text(record.arguments),
            pack_text(record.summary),
            record.kind,
            time.time(),
        ),
    )


def end_call(
    connection: sqlite3.Connection,
    session_id: str,
    call_id: str,
    outcome: Outcome,
    result: str,
    summary: str,
    display: DisplayBlock,
    duration_ms: int,
) -> None:
    """Note how a call ended; `LookupError` for one that was never recorded or has ended already."""
    changed = connection.execute(
        "UPDATE calls SET outcome = ?, result = ?, summary = ?, display = ?, duration_ms = ? "
        "WHERE session_id = ? AND call_id = ? AND outcome IS NULL",
        (
            outcome,
            pack_text(result),
            pack_text(summary),
            pack_display(display),
            duration_ms,
            session_id,
            pack_text(call_id),
        ),
    )
    if changed.rowcount != 1:
        raise LookupError(f"no open call {call_id!r} in session {session_id}")


def calls_of(connection: sqlite3.Connection, session_id: str) -> dict[str, StoredCall]:
    """Those that can be read, by their ids."""
    rows = connection.execute(
        "SELECT call_id, message_id, tool, arguments, proposed_summary, kind, "
        "outcome, result, display, summary, duration_ms FROM calls WHERE session_id = ? ORDER BY rowid",
        (session_id,),
    )
    return {call.record.call_id: call for call in readable(rows, _call)}


def count_calls(connection: sqlite3.Connection, session_id: str) -> int:
    """Those that cannot be read among them."""
    row = connection.execute("SELECT count(*) FROM calls WHERE session_id = ?", (session_id,))
    return int(row.fetchone()[0])


def forget_call(connection: sqlite3.Connection, session_id: str, call_id: str) -> None:
    """Make room for one that can be read."""
    connection.execute(
        "DELETE FROM calls WHERE session_id = ? AND call_id = ?", (session_id, pack_text(call_id))
    )


def _call(row: sqlite3.Row) -> StoredCall:
    call_id, message_id, tool, arguments, proposed_summary, kind, *end = row
    outcome, result, display, summary, duration_ms = end
    record = CallRecord(
        unpack_text(call_id),
        unpack_text(message_id),
        unpack_text(tool),
        unpack_text(arguments),
        unpack_text(proposed_summary),
        ToolKind(kind),
    )
    return StoredCall(
        record,
        None if outcome is None else Outcome(outcome),
        None if result is None else unpack_text(result),
        None if display is None else unpack_display(display),
        record.summary if summary is None else unpack_text(summary),
        duration_ms,
    )
