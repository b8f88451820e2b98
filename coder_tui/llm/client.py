"""What the orchestrator asks of a model, whoever answers.

What is known of a model: its window, its price, its senses.

When to try a failed model call again, and after how long.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Protocol

from coder_tui.protocol.errors import ModelError, ModelErrorKind
from coder_tui.protocol.messages import FinishReason, Message, ThinkingBlock, Usage

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


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Tokens, and dollars per million tokens; None where nobody knows."""

    context_window: int | None = None
    max_output: int | None = None
    input_cost: float | None = None
    output_cost: float | None = None
    supports_vision: bool | None = None
    supports_tools: bool | None = None
    supports_reasoning: bool | None = None


LONGEST_WAIT = 300.0
MOST_KNOCKS = 3
"""Where nobody listens, somebody seldom comes while one waits."""
_JITTER_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Doubles `base` up to `cap`, in seconds; a server's own wish goes before that, within `LONGEST_WAIT`."""

    max_attempts: int = 5
    base: float = 2.0
    cap: float = 30.0

    def delay(self, attempt: int, error: ModelError, jitter: float) -> float | None:
        """Seconds to wait after failed attempt number `attempt` (from 1), None to give up.

        `jitter` in 0…1 spreads clients that failed together; it lengthens the wait by at most a quarter.
        """
        if not error.is_retryable or attempt >= self.max_attempts:
            return None
        if error.kind is ModelErrorKind.REFUSED and attempt >= MOST_KNOCKS:
            return None
        if error.retry_after is not None:
            return min(max(error.retry_after, 0.0), LONGEST_WAIT)
        doubled: float = self.base * 2.0 ** (attempt - 1)
        return min(doubled, self.cap) * (1 + _JITTER_SHARE * jitter)
