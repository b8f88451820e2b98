"""The conversation as the model sees it, the usage of model calls, and summaries that replace messages."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of one or more calls. `cost` is in dollars, or None if no price is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float | None = None

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def describe(self) -> str:
        """Describe the usage in a line: cost, tokens, and how many were cached or used for reasoning."""
        price = "price unknown" if self.cost is None else f"${self.cost:.4f}"
        cached = f" ({self.cached_tokens:,} cached)" if self.cached_tokens else ""
        reasoned = f" ({self.reasoning_tokens:,} reasoned)" if self.reasoning_tokens else ""
        return f"{price}, {self.input_tokens:,} tokens in{cached}, {self.output_tokens:,} out{reasoned}"

    def __add__(self, other: "Usage") -> "Usage":
        known = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            sum(known) if known else None,
        )


class FinishReason(StrEnum):
    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    REFUSAL = "refusal"


@dataclass(frozen=True, slots=True)
class ThinkingBlock:
    """Reasoning that some providers require back unchanged, including its signature."""

    text: str = ""
    signature: str | None = None
    redacted_data: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model wrote it. `arguments` is its JSON text, not checked yet."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Attachment:
    """Content that a message adds for the model: text, or a picture as base64 `data`."""

    label: str
    text: str
    media_type: str = ""
    data: str = ""


@dataclass(frozen=True, slots=True)
class UserMessage:
    """`text` is as the user wrote it and as it is shown. Unless `is_typed`, the program wrote it."""

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
    """The result of one call as JSON text for the model. `attachments` are its pictures."""

    id: str
    call_id: str
    tool: str
    content: str
    attachments: tuple[Attachment, ...] = ()
    role: Literal["tool"] = "tool"


Message = UserMessage | AssistantMessage | ToolMessage


@dataclass(frozen=True, slots=True)
class Compaction:
    """`summary` replaces everything up to the message `last_id`. Results of `pruned` calls are left out.

    Without a summary, only results are left out. The conversation itself does not change.
    """

    number: int
    last_id: str = ""
    summary: str = ""
    pruned: frozenset[str] = frozenset()
