"""A session as Markdown and as JSON lines."""

import json
from datetime import UTC, datetime

from coder_tui.protocol.access import Mode, ToolKind
from coder_tui.protocol.display import (
    DiffBlock,
    DisplayBlock,
    MarkdownBlock,
    TableBlock,
    TerminalBlock,
    TextBlock,
    TodosBlock,
)
from coder_tui.protocol.messages import (
    AssistantMessage,
    ThinkingBlock,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from coder_tui.protocol.outcomes import Outcome
from coder_tui.protocol.todos import TodoItem, TodoPriority, TodoStatus
from coder_tui.storage.export import to_jsonl, to_markdown
from coder_tui.storage.records import CallRecord, SessionInfo, StoredCall, StoredSession

_WHEN = datetime(2024, 5, 6, 7, 8, tzinfo=UTC)
_TODO = TodoItem("1", "write", TodoStatus.COMPLETED, TodoPriority.HIGH)


def _info(title: str = "Fix it") -> SessionInfo:
    return SessionInfo("id1", title, "/w", "openai/x", Mode.ASK, _WHEN, _WHEN, 3, 0.5)


def _stored(call_id: str, display: DisplayBlock) -> StoredCall:
    record = CallRecord(call_id, "a1", "bash", "{}", "ls", ToolKind.EXECUTE)
    return StoredCall(record, Outcome.OK, '{"ok": true}', display, "ls: done", 5)


def _session(displays: tuple[DisplayBlock, ...]) -> StoredSession:
    calls = {f"c{number}": _stored(f"c{number}", block) for number, block in enumerate(displays)}
    asked = (*calls, "open")
    return StoredSession(
        _info(),
        (
            UserMessage("u1", "please"),
            AssistantMessage(
                "a1", "ok", (ThinkingBlock("hm\n\nyes"),), tuple(ToolCall(id_, "bash", "{}") for id_ in asked)
            ),
            ToolMessage("t1", "c0", "bash", '{"ok": true}'),
        ),
        calls,
        (_TODO,),
        Usage(10, 5, cost=0.5),
    )


_MARKDOWN = """\
# Fix it

- session id1, begun 2024-05-06 07:08 UTC
- folder `/w`
- model `openai/x`
- 10 tokens in, 5 out
- $0.5000

## User

please

## Assistant

> hm
>
> yes

ok

### `bash` ls: done — ok

```console
$ ls
a
```

exit code 0

### `bash` ls: done — ok

````diff
-```
+x
````

### `bash` ls: done — ok

```
plain
```

### `bash` ls: done — ok

*marked*

### `bash` ls: done — ok

- [x] write

### `bash` ls: done — ok

| a\\|b |
| --- |
| 1 |

### `bash` — no result

```json
{}
```

## Todos

- [x] write
"""


def test_markdown_has_the_session_in_order() -> None:
    session = _session(
        (
            TerminalBlock("ls", "a\n", 0),
            DiffBlock("x", "-```\n+x\n", 1, 1),
            TextBlock("plain"),
            MarkdownBlock("*marked*"),
            TodosBlock((_TODO,)),
            TableBlock(("a|b",), (("1",),)),
        )
    )
    assert to_markdown(session) == _MARKDOWN


def test_neither_format_passes_control_characters_to_a_terminal() -> None:
    evil = "\x1b]52;c;x\x07\x9b2J\u202e\ud800"
    session = StoredSession(_info(evil), (UserMessage("u1", evil),), {}, (), Usage())
    markdown = to_markdown(session)
    assert not any(character in markdown for character in evil if not character.isprintable())
    assert to_jsonl(session).replace("\n", "").isascii()
    assert to_jsonl(session).replace("\n", "").isprintable()
    assert json.loads(to_jsonl(session).splitlines()[1])["text"] == evil


def test_jsonl_has_a_line_for_each_thing() -> None:
    lines = [json.loads(line) for line in to_jsonl(_session((TextBlock("plain"),))).splitlines()]
    assert [line["type"] for line in lines] == [
        "session",
        "message",
        "message",
        "message",
        "call",
        "todos",
        "usage",
    ]
    assert lines[0] == {
        "type": "session",
        "schema": 1,
        "id": "id1",
        "title": "Fix it",
        "directory": "/w",
        "model": "openai/x",
        "mode": "ask",
        "created": "2024-05-06T07:08:00+00:00",
        "updated": "2024-05-06T07:08:00+00:00",
        "message_count": 3,
        "cost": 0.5,
    }
    assert lines[1] == {
        "type": "message",
        "id": "u1",
        "text": "please",
        "attachments": [],
        "role": "user",
        "is_typed": True,
    }
    assert lines[4] == {
        "type": "call",
        "call_id": "c0",
        "message_id": "a1",
        "tool": "bash",
        "arguments": "{}",
        "kind": "execute",
        "outcome": "ok",
        "result": '{"ok": true}',
        "display": {"text": "plain", "type": "text"},
        "summary": "ls: done",
        "duration_ms": 5,
    }
