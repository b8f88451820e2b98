"""Closing the open calls of a killed program costs nothing for finished ones."""

import sqlite3
from pathlib import Path

from coder_tui.protocol.access import Mode
from coder_tui.protocol.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from coder_tui.storage.store import Store
from coder_tui.storage.transcript import close_unfinished_calls


async def test_a_session_without_open_calls_is_not_written_to(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "sessions.db")
    info = await store.sessions.create("/srv", "demo", Mode.ASK)
    for number in range(5):
        await store.messages.add(info.id, UserMessage(f"u{number}", "go"))
        call = ToolCall(f"c{number}", "read", "{}")
        await store.messages.add(info.id, AssistantMessage(f"a{number}", "", calls=(call,)))
        await store.messages.add(info.id, ToolMessage(f"t{number}", call.id, "read", "{}"))
    await store.close()
    connection = sqlite3.connect(tmp_path / "sessions.db")
    connection.row_factory = sqlite3.Row
    assert close_unfinished_calls(connection, info.id) == ()
    assert connection.total_changes == 0
    connection.close()
