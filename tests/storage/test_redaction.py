"""Nothing stored has a secret: the bytes on disk never contain one."""

import json
from dataclasses import replace
from pathlib import Path

from coder_tui.protocol.access import Mode, ToolKind
from coder_tui.protocol.display import DiffBlock, TableBlock, TerminalBlock, TodosBlock
from coder_tui.protocol.messages import AssistantMessage, ThinkingBlock, ToolCall, ToolMessage, UserMessage
from coder_tui.protocol.outcomes import Outcome
from coder_tui.protocol.todos import TodoItem, TodoPriority, TodoStatus
from coder_tui.storage.export import to_jsonl, to_markdown
from coder_tui.storage.records import FinishedCall
from coder_tui.storage.redaction import Redaction
from coder_tui.storage.store import CallRecord, DecisionRecord, Store
from coder_tui.text.redact import MASK, Redactor

SHAPED = "sk-ant-abcdefgh0123456789"
KNOWN = "value known 42"
SECRET = f"{SHAPED} {KNOWN}"
CLEAN = f"{MASK} {MASK}"
ITEM = TodoItem("t1", f"use {SECRET}", TodoStatus.PENDING, TodoPriority.LOW)


async def filled_store(path: Path) -> tuple[Store, str]:
    store = await Store.open(path, Redactor({"A_SECRET": KNOWN}))
    info = await store.sessions.create("/folder", "m", Mode.ASK)
    arguments = json.dumps({"command": f"curl -H {SECRET}", "token": "short"})
    thinking = (ThinkingBlock(f"so {SECRET}", "signed"), ThinkingBlock("plain", "signed"))
    call = ToolCall("call-1", "bash", arguments)
    await store.sessions.rename(info.id, f"title {SECRET}")
    await store.messages.add(info.id, UserMessage("m1", f"said {SECRET}"))
    await store.messages.add(info.id, AssistantMessage("m2", f"ok {SECRET}", thinking, (call,)))
    await store.calls.begin(
        info.id, CallRecord("call-1", "m2", "bash", arguments, f"curl {SECRET}", ToolKind.EXECUTE)
    )
    content = json.dumps({"ok": True, "stdout": f"out {SECRET}\nend"})
    await store.calls.finish(
        info.id,
        FinishedCall(
            "call-1",
            "bash",
            Outcome.OK,
            f"curl {SECRET}",
            TerminalBlock(f"curl {SECRET}", f"out {SECRET}", 0),
            5,
            ToolMessage("m3", "call-1", "bash", content),
        ),
    )
    await store.todos.set(info.id, (ITEM,))
    await store.decisions.add(
        info.id, DecisionRecord("call-1", "bash", "ask", f"curl {SECRET}", "user", f"deny {SECRET}")
    )
    return store, info.id


def bytes_under(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_no_secret_reaches_the_disk(tmp_path: Path) -> None:
    store, _ = await filled_store(tmp_path / "store.db")
    await store.close()
    data = bytes_under(tmp_path)
    assert (SHAPED.encode() in data, KNOWN.encode() in data) == (False, False)


async def test_what_is_read_back_has_the_mask_and_the_rest(tmp_path: Path) -> None:
    store, session_id = await filled_store(tmp_path / "store.db")
    stored = await store.load(session_id)
    (decision,) = await store.decisions.list(session_id)
    await store.close()
    user, assistant, tool = stored.messages
    assert stored.info.title == f"title {CLEAN}"
    assert user == UserMessage("m1", f"said {CLEAN}")
    assert isinstance(assistant, AssistantMessage) and isinstance(tool, ToolMessage)
    assert assistant.text == f"ok {CLEAN}"
    # The text of a signed thought must not change under its signature.
    assert assistant.thinking == (ThinkingBlock(f"so {CLEAN}"), ThinkingBlock("plain", "signed"))
    assert json.loads(assistant.calls[0].arguments) == {"command": f"curl -H {CLEAN}", "token": MASK}
    assert json.loads(tool.content) == {"ok": True, "stdout": f"out {CLEAN}\nend"}
    call = stored.calls["call-1"]
    assert (call.summary, call.record.summary) == (f"curl {CLEAN}", f"curl {CLEAN}")
    assert call.display == TerminalBlock(f"curl {CLEAN}", f"out {CLEAN}", 0)
    assert stored.todos[0].content == f"use {CLEAN}"
    assert (decision.rule, decision.answer) == (f"curl {CLEAN}", f"deny {CLEAN}")


async def test_exports_hold_no_secret(tmp_path: Path) -> None:
    store, session_id = await filled_store(tmp_path / "store.db")
    stored = await store.load(session_id)
    await store.close()
    text = to_markdown(stored) + to_jsonl(stored)
    assert (SHAPED in text, KNOWN in text, MASK in text) == (False, False, True)


def test_every_kind_of_block_is_cleaned() -> None:
    clean = Redaction(Redactor({"A_SECRET": KNOWN}))
    assert clean.display(DiffBlock("a.py", f"+{SECRET}", 1, 0)) == DiffBlock("a.py", f"+{CLEAN}", 1, 0)
    table = TableBlock(("name",), ((SECRET, "x"),))
    assert clean.display(table) == TableBlock(("name",), ((CLEAN, "x"),))
    assert clean.display(TodosBlock((ITEM,))) == TodosBlock((replace(ITEM, content=f"use {CLEAN}"),))
