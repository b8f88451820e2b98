"""Gives every call of a session a result, so that a model can go on after the program was killed."""

import json
import sqlite3
from contextlib import suppress

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType
from coder_tui.protocol.messages import AssistantMessage, Message, ToolCall, ToolMessage
from coder_tui.protocol.outcomes import Outcome
from coder_tui.storage.records import CallRecord, StoredCall
from coder_tui.storage.transcript import (
    calls_of,
    end_call,
    forget_call,
    insert_call,
    insert_message,
    make_room,
    messages_of,
)

INTERRUPTED = "interrupted: the program ended before this call finished; it may have run"
NOT_RUN = "not run: the program ended before this call began"

Rows = tuple[tuple[int, Message], ...]


def close_unfinished_calls(connection: sqlite3.Connection, session_id: str) -> tuple[str, ...]:
    """Close what has no result; returns the ids, in the order of the conversation."""
    rows = messages_of(connection, session_id).rows
    calls = calls_of(connection, session_id)
    answers = {message.call_id: seq for seq, message in rows if isinstance(message, ToolMessage)}
    closed: list[str] = []
    # From the end, so that making room never moves what is still to be looked at.
    for seq, message in reversed(rows):
        if isinstance(message, AssistantMessage):
            missing = tuple(call for call in message.calls if call.id not in answers)
            if not missing:
                continue  # moving everything behind each reply by nothing takes minutes in a long session
            last = max([seq, *(answers[call.id] for call in message.calls if call.id in answers)])
            make_room(connection, session_id, last, len(missing))
            for place, call in enumerate(missing, start=last + 1):
                _close(connection, session_id, message.id, call, calls.get(call.id), place)
            closed[:0] = (call.id for call in missing)
    strays = tuple(id_ for id_, call in calls.items() if call.outcome is None and id_ not in closed)
    for call_id in strays:
        with suppress(LookupError):  # its id was damaged: nothing goes by that name
            _end(connection, session_id, calls[call_id].record, INTERRUPTED)
    return (*closed, *strays)


def _close(
    connection: sqlite3.Connection,
    session_id: str,
    message_id: str,
    call: ToolCall,
    stored: StoredCall | None,
    place: int,
) -> None:
    reason = INTERRUPTED
    if stored is None:
        reason = NOT_RUN
        forget_call(connection, session_id, call.id)  # there is one after all where it cannot be read
        record = CallRecord(call.id, message_id, call.name, call.arguments, "", ToolKind.OTHER)
        insert_call(connection, session_id, record)
        _end(connection, session_id, record, reason)
    elif stored.outcome is None:
        _end(connection, session_id, stored.record, reason)
    answer = ToolMessage(f"closed-{call.id}", call.id, call.name, _result(reason))
    insert_message(connection, session_id, answer, place)


def _end(connection: sqlite3.Connection, session_id: str, record: CallRecord, reason: str) -> None:
    end_call(
        connection,
        session_id,
        record.call_id,
        Outcome.CANCELLED,
        _result(reason),
        record.summary,
        TextBlock(reason),
        0,
    )


def _result(reason: str) -> str:
    return json.dumps({"ok": False, "error": {"type": ErrorType.CANCELLED, "message": reason}})
