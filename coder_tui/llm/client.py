"""Requests to a model, the items it streams back, what is known about it, and when to retry.

Also the JSON lines between the program and the model host, and estimates of tokens until the server reports
the real ones.
"""

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol, assert_never

from coder_tui.protocol.errors import ModelError, ModelErrorKind
from coder_tui.protocol.messages import (
    AssistantMessage,
    FinishReason,
    Message,
    ThinkingBlock,
    ToolMessage,
    Usage,
    UserMessage,
)
from coder_tui.shell.hosts.link import JsonObject

ToolDefinition = dict[str, object]
"""An OpenAI function definition: wire data, passed through untouched."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call. `model` is litellm's name; empty strings mean "the provider's default"."""

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
    """A piece of the call at `index`; the first piece has its id and name."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class StreamFinished:
    """The reply is complete. Without this last item nothing that was streamed may be acted on."""

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
        """Prepare for a first call."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Limits in tokens, prices in dollars per million tokens; None if unknown."""

    context_window: int | None = None
    max_output: int | None = None
    input_cost: float | None = None
    output_cost: float | None = None
    supports_vision: bool | None = None
    supports_tools: bool | None = None
    supports_reasoning: bool | None = None


LONGEST_WAIT = 300.0
MOST_KNOCKS = 3
"""Attempts if nothing listens: a server rarely appears while we wait."""
_JITTER_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Doubles `base` up to `cap`, in seconds; a server's own `retry-after` wins, up to `LONGEST_WAIT`."""

    max_attempts: int = 5
    base: float = 2.0
    cap: float = 30.0

    def delay(self, attempt: int, error: ModelError, jitter: float) -> float | None:
        """Return the seconds to wait after failed attempt number `attempt` (from 1), or None to give up.

        `jitter` in 0…1 spreads clients that failed together; it adds at most a quarter to the wait.
        """
        if not error.is_retryable or attempt >= self.max_attempts:
            return None
        if error.kind is ModelErrorKind.REFUSED and attempt >= MOST_KNOCKS:
            return None
        if error.retry_after is not None:
            return min(max(error.retry_after, 0.0), LONGEST_WAIT)
        doubled: float = self.base * 2.0 ** (attempt - 1)
        return min(doubled, self.cap) * (1 + _JITTER_SHARE * jitter)


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


def error_from_json(data: Mapping[str, Any]) -> ModelError:
    return ModelError(**{**data, "kind": ModelErrorKind(data["kind"])})


_BYTES_PER_TOKEN = 3.6
_MESSAGE_OVERHEAD = 4


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of `text`; within 20 percent of common tokenizers for prose and code."""
    # Bytes, not characters: a CJK character is about one token and three bytes.
    return round(len(text.encode("utf-8", "surrogatepass")) / _BYTES_PER_TOKEN)


def estimate_request(request: ModelRequest) -> int:
    """Estimate how much of the context window a request fills."""
    tools = sum(estimate_tokens(str(tool)) for tool in request.tools)
    return estimate_tokens(request.system) + tools + sum(map(estimate_message, request.messages))


def with_estimates(usage: Usage, request: ModelRequest, said: Iterable[str]) -> Usage:
    """Return the server's counts, or estimates if it sent none; `said` is everything it streamed."""
    if usage.total_tokens:
        return usage
    output = estimate_tokens("".join(said))
    return replace(usage, input_tokens=estimate_request(request), output_tokens=output)


def output_text(item: StreamItem) -> str:
    """Return the text of a stream item that counts as output."""
    match item:
        case TextChunk(text=text) | ThinkingChunk(text=text):
            return text
        case ToolCallChunk(name=name, arguments=arguments):
            return name + arguments
        case StreamFinished():
            return ""


def estimate_message(message: Message) -> int:
    match message:
        case UserMessage(text=text, attachments=attachments):
            attached = sum(estimate_tokens(each.label + each.text) for each in attachments)
            return estimate_tokens(text) + attached + _MESSAGE_OVERHEAD
        case ToolMessage(content=content):
            return estimate_tokens(content) + _MESSAGE_OVERHEAD
        case AssistantMessage(text=text, calls=calls):
            written = sum(estimate_tokens(call.name + call.arguments) for call in calls)
            return estimate_tokens(text) + written + _MESSAGE_OVERHEAD
