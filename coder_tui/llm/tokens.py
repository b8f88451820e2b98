"""A quick guess at token counts, for the time before a server tells the true one."""

from collections.abc import Iterable
from dataclasses import replace

from coder_tui.llm.client import (
    ModelRequest,
    StreamFinished,
    StreamItem,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
)
from coder_tui.protocol.messages import AssistantMessage, Message, ToolMessage, Usage, UserMessage

_BYTES_PER_TOKEN = 3.6
_MESSAGE_OVERHEAD = 4


def estimate_tokens(text: str) -> int:
    """About how many tokens `text` is; prose and code come within a fifth of common tokenizers."""
    # Bytes and not characters: a CJK character is about one token and three bytes.
    return round(len(text.encode("utf-8", "surrogatepass")) / _BYTES_PER_TOKEN)


def estimate_request(request: ModelRequest) -> int:
    """About what a request will fill of the context window."""
    tools = sum(estimate_tokens(str(tool)) for tool in request.tools)
    return estimate_tokens(request.system) + tools + sum(map(estimate_message, request.messages))


def with_estimates(usage: Usage, request: ModelRequest, said: Iterable[str]) -> Usage:
    """The counts, or guesses where a server sent none; `said` is all that it streamed."""
    if usage.total_tokens:
        return usage
    output = estimate_tokens("".join(said))
    return replace(usage, input_tokens=estimate_request(request), output_tokens=output)


def words_of(item: StreamItem) -> str:
    """What of a stream item counts as output."""
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
