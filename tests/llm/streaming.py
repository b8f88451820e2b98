"""Helpers for tests that talk to a scripted server through the shared host."""

import pytest

from coder_tui.llm.client import (
    ModelClient,
    ModelRequest,
    StreamFinished,
    StreamItem,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
    ToolDefinition,
)
from coder_tui.protocol.errors import ModelError
from coder_tui.protocol.messages import ToolCall, UserMessage

READ: ToolDefinition = {
    "type": "function",
    "function": {
        "name": "read",
        "description": "Read a file.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
    },
}
HELLO = UserMessage("1", "hello")
CLAUDE = "anthropic/claude-sonnet-4-5"


def ask(url: str, model: str = "openai/x") -> ModelRequest:
    return ModelRequest(model, "be good", (HELLO,), (READ,), api_base=url)


async def reply_to(client: ModelClient, request: ModelRequest) -> list[StreamItem]:
    return [item async for item in client.stream(request)]


async def failure_of(client: ModelClient, request: ModelRequest) -> tuple[list[StreamItem], ModelError]:
    """Return the items before the stream failed, and its error."""
    items: list[StreamItem] = []
    with pytest.raises(ModelError) as caught:
        async for item in client.stream(request):
            items.append(item)
    return items, caught.value


def text_of(items: list[StreamItem]) -> str:
    return "".join(item.text for item in items if isinstance(item, TextChunk))


def thinking_of(items: list[StreamItem]) -> str:
    return "".join(item.text for item in items if isinstance(item, ThinkingChunk))


def calls_of(items: list[StreamItem]) -> list[ToolCall]:
    calls: dict[int, ToolCall] = {}
    for item in items:
        if isinstance(item, ToolCallChunk):
            old = calls.get(item.index, ToolCall(item.id, item.name, ""))
            calls[item.index] = ToolCall(old.id, old.name, old.arguments + item.arguments)
    return list(calls.values())


def finish_of(items: list[StreamItem]) -> StreamFinished:
    last = items[-1]
    assert isinstance(last, StreamFinished)
    return last
