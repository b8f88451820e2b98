"""Writes a stored session as a Markdown document or as JSON lines."""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import assert_never

from coder_tui.protocol.display import (
    DiffBlock,
    DisplayBlock,
    ImageBlock,
    MarkdownBlock,
    SubagentsBlock,
    TableBlock,
    TerminalBlock,
    TextBlock,
    TodosBlock,
)
from coder_tui.protocol.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage
from coder_tui.protocol.subagents import ChildLine
from coder_tui.protocol.todos import TodoItem, TodoStatus
from coder_tui.storage.records import SessionInfo, StoredCall, StoredSession
from coder_tui.text.redact import BY_SHAPE, Redactor
from coder_tui.text.safe_text import safe_line, safe_text

JSONL_SCHEMA = 1
_BACKTICKS = re.compile("`+")
_BOXES = {TodoStatus.PENDING: " ", TodoStatus.IN_PROGRESS: "~", TodoStatus.COMPLETED: "x"}


def to_markdown(session: StoredSession, redact: Redactor = BY_SHAPE) -> str:
    """Return the conversation as Markdown; control characters are escaped, so it is safe to print."""
    parts = [_heading(session)]
    for message in session.messages:
        parts.extend(_message(message, session.calls))
    if session.todos:
        parts += ["## Todos", _todos(session.todos)]
    # An older version may have stored secrets that this one would redact.
    return safe_text(redact("\n\n".join(parts))) + "\n"


def to_jsonl(session: StoredSession, redact: Redactor = BY_SHAPE) -> str:
    """Return a line for the session, each message, each call, the todos and the usage, in plain ASCII."""
    return "".join(f"{json.dumps(redact.value(line))}\n" for line in _lines(session))


def _lines(session: StoredSession) -> Iterator[dict[str, object]]:
    yield {"type": "session", "schema": JSONL_SCHEMA, **_info(session.info)}
    for message in session.messages:
        yield {"type": "message", **asdict(message)}
    for call in session.calls.values():
        fields = asdict(call)
        yield {"type": "call", **fields.pop("record"), **fields}
    yield {"type": "todos", "items": [asdict(item) for item in session.todos]}
    yield {"type": "usage", **asdict(session.usage)}


def _info(info: SessionInfo) -> dict[str, object]:
    return {**asdict(info), "created": info.created.isoformat(), "updated": info.updated.isoformat()}


def _heading(session: StoredSession) -> str:
    info, usage = session.info, session.usage
    facts = [
        f"- session {info.id}, begun {info.created:%Y-%m-%d %H:%M} UTC",
        f"- folder {_code(info.directory)}",
        f"- {usage.input_tokens} tokens in, {usage.output_tokens} out",
    ]
    if info.model:
        facts.insert(2, f"- model {_code(info.model)}")
    if usage.cost is not None:
        facts.append(f"- ${usage.cost:.4f}")
    return f"# {safe_line(info.title) or 'Untitled session'}\n\n" + "\n".join(facts)


def _message(message: Message, calls: dict[str, StoredCall]) -> Iterator[str]:
    match message:
        case UserMessage():
            yield "## User"
            yield message.text
            if message.attachments:
                yield "\n".join(f"- attached {_code(each.label)}" for each in message.attachments)
        case AssistantMessage():
            yield "## Assistant"
            thinking = "\n\n".join(block.text for block in message.thinking if block.text)
            if thinking:
                yield "\n".join(f"> {line}".rstrip() for line in thinking.split("\n"))
            if message.text:
                yield message.text
            for call in message.calls:
                yield from _call(call, calls.get(call.id))
        case ToolMessage():
            return
        case never:
            assert_never(never)


def _call(call: ToolCall, stored: StoredCall | None) -> Iterator[str]:
    """Yield a call where the model made it, with its result as the screen showed it."""
    if stored is None or stored.outcome is None:
        yield f"### {_code(call.name)} — no result"
        yield _fenced(call.arguments, "json")
        return
    summary = f" {safe_line(stored.summary)}" if stored.summary else ""
    yield f"### {_code(call.name)}{summary} — {stored.outcome}"
    if stored.display is not None:
        yield _display(stored.display)


def _display(block: DisplayBlock) -> str:
    match block:
        case TextBlock():
            return _fenced(block.text)
        case MarkdownBlock():
            return block.text
        case DiffBlock():
            return _fenced(block.diff, "diff")
        case TerminalBlock():
            code = "" if block.exit_code is None else f"\n\nexit code {block.exit_code}"
            return _fenced(f"$ {block.command}\n{block.output}", "console") + code
        case TodosBlock():
            return _todos(block.items)
        case TableBlock():
            rows = (block.columns, tuple("---" for _ in block.columns), *block.rows)
            return "\n".join("| " + " | ".join(map(_cell, row)) + " |" for row in rows)
        case ImageBlock():
            return f"Picture: {_code(block.describe())}"
        case SubagentsBlock():
            return "\n\n".join(map(_child, block.children))
        case never:
            assert_never(never)


def _todos(items: tuple[TodoItem, ...]) -> str:
    return "\n".join(f"- [{_BOXES[item.status]}] {safe_line(item.content)}" for item in items)


def _child(child: ChildLine) -> str:
    return f"**{safe_line(child.agent)}** {safe_line(child.task)} — {child.state}\n\n{child.summary}".rstrip()


def _cell(text: str) -> str:
    return safe_line(text).replace("|", "\\|")


def _code(text: str) -> str:
    fence = "`" * (_longest_run(text) + 1)
    space = " " if "`" in text else ""
    return f"{fence}{space}{safe_line(text)}{space}{fence}"


def _fenced(text: str, language: str = "") -> str:
    """Fence the text; the fence is longer than any in the text, so the text cannot close it."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)
