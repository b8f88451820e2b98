"""The JSON lines between the program and its model process: stream items, failures and facts."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, assert_never

from coder_tui.llm.client import (
    ModelInfo,
    StreamFinished,
    StreamItem,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
)
from coder_tui.protocol.errors import ModelError, ModelErrorKind
from coder_tui.protocol.messages import FinishReason, ThinkingBlock, Usage

JsonObject = dict[str, Any]
"""One line: wire data."""


def item_to_json(item: StreamItem) -> JsonObject:
    match item:
        case TextChunk(text=text):
            return {"type": "text", "text": text}
        case ThinkingChunk(text=text):
            return {"type": "thinking", "text": text}
        case ToolCallChunk():
            return {"type": "call", **asdict(item)}
        case StreamFinished(reason=reason, thinking=thinking, usage=usage):
            blocks = [asdict(block) for block in thinking]
            return {"type": "finished", "reason": reason, "thinking": blocks, "usage": asdict(usage)}
        case _:
            assert_never(item)


def item_from_json(data: Mapping[str, Any]) -> StreamItem:
    match data["type"]:
        case "text":
            return TextChunk(data["text"])
        case "thinking":
            return ThinkingChunk(data["text"])
        case "call":
            return ToolCallChunk(data["index"], data["id"], data["name"], data["arguments"])
        case "finished":
            thinking = tuple(ThinkingBlock(**block) for block in data["thinking"])
            return StreamFinished(FinishReason(data["reason"]), thinking, Usage(**data["usage"]))
        case other:
            raise ValueError(f"unknown stream item: {other}")


def error_to_json(error: ModelError) -> JsonObject:
    return {
        "kind": error.kind,
        "message": error.message,
        "hint": error.hint,
        "retry_after": error.retry_after,
        "window": error.window,
    }


def error_from_json(data: Mapping[str, Any]) -> ModelError:
    return ModelError(
        ModelErrorKind(data["kind"]), data["message"], data["hint"], data["retry_after"], data["window"]
    )


def info_to_json(info: ModelInfo) -> JsonObject:
    return asdict(info)


def info_from_json(data: Mapping[str, Any]) -> ModelInfo:
    return ModelInfo(**data)
