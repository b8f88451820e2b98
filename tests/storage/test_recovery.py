"""Closing what a killed program left open, at a price that does not grow with what was finished."""

import sqlite3
from pathlib import Path

from coder_tui.protocol.access import Mode
from coder_tui.protocol.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from coder_tui.storage.recovery import close_unfinished_calls
from coder_tui.storage.store import Store


async def test_a_session_without_open_calls_is_not_written_to(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "sessions.db")
    info = await store.create_session("/srv", "demo", Mode.ASK)
    for number in range(5):
        await store.add_message(info.id, UserMessage(f"u{number}", "go"))
        call = ToolCall(f"c{number}", "read", "{}")
        await store.add_message(info.id, AssistantMessage(f"a{number}", "", calls=(call,)))
        await store.add_message(info.id, ToolMessage(f"t{number}", call.id, "read", "{}"))
    await store.close()
    connection = sqlite3.connect(tmp_path / "sessions.db")
    connection.row_factory = sqlite3.Row
    assert close_unfinished_calls(connection, info.id) == ()
    assert connection.total_changes == 0
    connection.close()
