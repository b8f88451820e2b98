"""The conversation as the model sees it."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from coder_tui.protocol.usage import Usage


class FinishReason(StrEnum):
    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    REFUSAL = "refusal"


@dataclass(frozen=True, slots=True)
class ThinkingBlock:
    """Reasoning that some providers demand back unchanged, signature included."""

    text: str = ""
    signature: str | None = None
    redacted_data: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model wrote it; `arguments` is its JSON text, not yet trusted."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Attachment:
    """What a message names and brings along for the model: text, or a picture as base64 `data`."""

    label: str
    text: str
    media_type: str = ""
    data: str = ""


@dataclass(frozen=True, slots=True)
class UserMessage:
    """`text` is as the person wrote it, and as it is shown; not `is_typed`: the program wrote it."""

    id: str
    text: str
    attachments: tuple[Attachment, ...] = ()
    role: Literal["user"] = "user"
    is_typed: bool = True


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    id: str
    text: str
    thinking: tuple[ThinkingBlock, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    model: str = ""
    finish: FinishReason = FinishReason.STOP
    usage: Usage = field(default_factory=Usage)
    role: Literal["assistant"] = "assistant"


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The result of one call, as JSON text for the model; `attachments` are pictures that belong to it."""

    id: str
    call_id: str
    tool: str
    content: str
    attachments: tuple[Attachment, ...] = ()
    role: Literal["tool"] = "tool"


Message = UserMessage | AssistantMessage | ToolMessage
