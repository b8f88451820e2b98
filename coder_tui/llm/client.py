"""What the orchestrator asks of a model, whoever answers."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Protocol

from coder_tui.protocol.messages import FinishReason, Message, ThinkingBlock
from coder_tui.protocol.usage import Usage

ToolDefinition = dict[str, object]
"""An OpenAI function definition: wire data, passed through untouched."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call. `model` is named as litellm names it; empty strings mean "the provider's default"."""

    model: str
    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...] = ()
    api_base: str = ""
    effort: str = ""
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TextChunk:
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingChunk:
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallChunk:
    """A piece of the call at `index`; id and name come with its first piece."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class StreamFinished:
    """The reply is whole. Without this as the last item nothing that was streamed may be acted on."""

    reason: FinishReason
    thinking: tuple[ThinkingBlock, ...] = ()
    usage: Usage = field(default_factory=Usage)


StreamItem = TextChunk | ThinkingChunk | ToolCallChunk | StreamFinished


class ModelClient(Protocol):
    """A source of replies. Closing the iterator (or cancelling its task) stops the request for real."""

    def stream(self, request: ModelRequest) -> AsyncIterator[StreamItem]:
        """Yield items as they come; raise `ModelError` for anything that went wrong."""
        ...

    async def warm(self) -> None:
        """Get ready for a first call, at leisure."""
        ...

    async def close(self) -> None: ...
