"""The rows of a conversation: messages and their calls.

Also closes calls without a result, so that a model can continue after the program was killed.
"""

import json
import sqlite3
import time
from contextlib import suppress
from dataclasses import dataclass

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType
from coder_tui.protocol.messages import AssistantMessage, Message, ToolCall, ToolMessage
from coder_tui.protocol.outcomes import Outcome
from coder_tui.storage.database import decode_text, skip_unreadable
from coder_tui.storage.index import touch
from coder_tui.storage.records import (
    CallRecord,
    FinishedCall,
    StoredCall,
    pack_display,
    pack_message,
    pack_text,
    unpack_display,
    unpack_message,
    unpack_text,
)
from coder_tui.storage.redaction import RedactedTable
from coder_tui.storage.turns import forget_redo

LONGEST_RECALLED = 20_000
"""The most characters of a message that is offered again in the prompt's history."""


class MessageTable(RedactedTable):
    async def add(self, session_id: str, message: Message) -> int:
        """Append a message; return its position in the session."""

        def work(connection: sqlite3.Connection) -> int:
            touch(connection, session_id)
            if message.role == "user":
                # Not when a turn begins: a turn without a message must not prevent a redo.
                forget_redo(connection, session_id)
            return insert_message(connection, session_id, self._redaction.message(message))

        return await self._database.write(work)

    async def sent_before(self, directory: str, most: int) -> tuple[str, ...]:
        """Return the user's newest `most` messages of all sessions in a folder, oldest first."""
        return await self._database.read(lambda connection: _sent_texts(connection, directory, most))


class CallTable(RedactedTable):
    async def begin(self, session_id: str, call: CallRecord) -> None:
        """Record a call before it runs, so that a crash cannot hide that it may have run."""

        def work(connection: sqlite3.Connection) -> None:
            insert_call(connection, session_id, self._redaction.record(call))

        await self._database.write(work)

    async def finish(self, session_id: str, call: FinishedCall, *, is_inner: bool = False) -> None:
        """Record how a call ended together with its message for the model: both or neither.

        The result of an inner call (`is_inner`) reaches the model through the outer one.
        """

        def work(connection: sqlite3.Connection) -> None:
            clean = self._redaction.finished(call)
            end_call(connection, session_id, clean)
            if not is_inner:
                insert_message(connection, session_id, clean.message)
                touch(connection, session_id)

        await self._database.write(work)


def insert_message(
    connection: sqlite3.Connection, session_id: str, message: Message, seq: int | None = None
) -> int:
    """Append a message, or insert it at `seq`, which must be free; return its position."""
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
class StoredMessages:
    """Messages with positions; `lost` counts unreadable ones, `garbled` those with broken characters."""

    rows: tuple[tuple[int, Message], ...]
    lost: int
    garbled: int

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages without results whose call was lost, which providers refuse."""
        messages = tuple(message for _, message in self.rows)
        if not self.lost and not self.garbled:
            return messages
        asked = {call.id for each in messages if isinstance(each, AssistantMessage) for call in each.calls}
        return tuple(each for each in messages if not isinstance(each, ToolMessage) or each.call_id in asked)


def messages_of(connection: sqlite3.Connection, session_id: str) -> StoredMessages:
    """Return the messages that are not undone."""
    stored = connection.execute(
        "SELECT seq, CAST(body AS BLOB) FROM messages "
        "WHERE session_id = ? AND unsaid_with IS NULL ORDER BY seq",
        (session_id,),
    ).fetchall()
    rows = tuple(skip_unreadable(stored, lambda row: (row[0], *_message(row[1]))))
    garbled = sum(not is_whole for *_, is_whole in rows)
    return StoredMessages(tuple((seq, message) for seq, message, _ in rows), len(stored) - len(rows), garbled)


def _message(body: bytes) -> tuple[Message, bool]:
    """Return a message, and whether all of its characters could be read."""
    try:
        return unpack_message(body.decode()), True
    except UnicodeDecodeError:
        return unpack_message(decode_text(body)), False


def _sent_texts(connection: sqlite3.Connection, directory: str, most: int) -> tuple[str, ...]:
    """Read only the texts: attachments may be large pictures."""
    rows = connection.execute(
        "SELECT json_extract(body, '$.text') AS text FROM messages JOIN sessions ON sessions.id = session_id "
        "WHERE directory = ? AND parent_id IS NULL AND trashed IS NULL AND role = 'user' "
        "AND json_valid(body) AND json_extract(body, '$.is_typed') IS NOT 0 AND length(text) <= ? "
        "ORDER BY messages.rowid DESC LIMIT ?",
        (pack_text(directory), LONGEST_RECALLED, most),
    ).fetchall()
    return tuple(text for (text,) in reversed(rows) if isinstance(text, str))


def make_room(connection: sqlite3.Connection, session_id: str, after: int, count: int) -> None:
    """Move the messages after `after` by `count` positions; through negative numbers, to keep them unique."""
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


def end_call(connection: sqlite3.Connection, session_id: str, call: FinishedCall) -> None:
    """Record how a call ended; raise `LookupError` if it was never recorded or has ended already."""
    changed = connection.execute(
        "UPDATE calls SET outcome = ?, result = ?, summary = ?, display = ?, duration_ms = ? "
        "WHERE session_id = ? AND call_id = ? AND outcome IS NULL",
        (
            call.outcome,
            pack_text(call.message.content),
            pack_text(call.summary),
            pack_display(call.display),
            call.duration_ms,
            session_id,
            pack_text(call.call_id),
        ),
    )
    if changed.rowcount != 1:
        raise LookupError(f"no open call {call.call_id!r} in session {session_id}")


def calls_of(connection: sqlite3.Connection, session_id: str) -> dict[str, StoredCall]:
    """Return the readable calls by id."""
    rows = connection.execute(
        "SELECT call_id, message_id, tool, arguments, proposed_summary, kind, "
        "outcome, result, display, summary, duration_ms FROM calls WHERE session_id = ? ORDER BY rowid",
        (session_id,),
    )
    return {call.record.call_id: call for call in skip_unreadable(rows, _call)}


def count_calls(connection: sqlite3.Connection, session_id: str) -> int:
    """Count all calls, including unreadable ones."""
    row = connection.execute("SELECT count(*) FROM calls WHERE session_id = ?", (session_id,))
    return int(row.fetchone()[0])


def forget_call(connection: sqlite3.Connection, session_id: str, call_id: str) -> None:
    """Delete a call, to make room for a readable one."""
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


INTERRUPTED = "interrupted: the program ended before this call finished; it may have run"
NOT_RUN = "not run: the program ended before this call began"


def close_unfinished_calls(connection: sqlite3.Connection, session_id: str) -> tuple[str, ...]:
    """Give every call without a result one; return their ids in the order of the conversation."""
    rows = messages_of(connection, session_id).rows
    calls = calls_of(connection, session_id)
    answers = {message.call_id: seq for seq, message in rows if isinstance(message, ToolMessage)}
    closed: list[str] = []
    # From the end, so that making room never moves messages that are still to be checked.
    for seq, message in reversed(rows):
        if isinstance(message, AssistantMessage):
            missing = tuple(call for call in message.calls if call.id not in answers)
            if not missing:
                continue  # shifting by nothing after each reply would take minutes in a long session
            last = max([seq, *(answers[call.id] for call in message.calls if call.id in answers)])
            make_room(connection, session_id, last, len(missing))
            for place, call in enumerate(missing, start=last + 1):
                _close(connection, session_id, message.id, call, calls.get(call.id), place)
            closed[:0] = (call.id for call in missing)
    strays = tuple(id_ for id_, call in calls.items() if call.outcome is None and id_ not in closed)
    for call_id in strays:
        with suppress(LookupError):  # its id is damaged: no row has it
            stray = calls[call_id].record
            end_call(connection, session_id, _cancelled(call_id, stray.tool, stray.summary, INTERRUPTED))
    return (*closed, *strays)


def _close(
    connection: sqlite3.Connection,
    session_id: str,
    message_id: str,
    call: ToolCall,
    stored: StoredCall | None,
    place: int,
) -> None:
    summary, reason = ("", NOT_RUN) if stored is None else (stored.record.summary, INTERRUPTED)
    finished = _cancelled(call.id, call.name, summary, reason)
    if stored is None:
        forget_call(connection, session_id, call.id)  # it may exist and be unreadable
        record = CallRecord(call.id, message_id, call.name, call.arguments, "", ToolKind.OTHER)
        insert_call(connection, session_id, record)
    if stored is None or stored.outcome is None:
        end_call(connection, session_id, finished)
    insert_message(connection, session_id, finished.message, place)


def _cancelled(call_id: str, tool: str, summary: str, reason: str) -> FinishedCall:
    content = json.dumps({"ok": False, "error": {"type": ErrorType.CANCELLED, "message": reason}})
    message = ToolMessage(f"closed-{call_id}", call_id, tool, content)
    return FinishedCall(call_id, tool, Outcome.CANCELLED, summary, TextBlock(reason), 0, message)
