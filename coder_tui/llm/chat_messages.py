"""Turns a request into litellm's arguments: OpenAI's message format, cache marks, thinking.

Past tool calls get a form that every provider accepts: a malformed call must not end a session.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from coder_tui.llm.client import ModelRequest
from coder_tui.llm.traits import ModelTraits, traits_of
from coder_tui.protocol.messages import (
    AssistantMessage,
    Attachment,
    Message,
    ThinkingBlock,
    ToolMessage,
    UserMessage,
)

STAND_IN = "invalid"
"""Replaces a tool name that providers would refuse."""
UNREADABLE = "unreadable_arguments"
_LONGEST = 2_000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def past_name(name: str) -> str:
    return name if _NAME.fullmatch(name) else STAND_IN


def past_arguments(text: str) -> str:
    """Return arguments as the model wrote them if they are a JSON object, which many providers require."""
    if isinstance(_read(text, strict=True), dict):
        return text
    if not text.strip():
        return "{}"
    # A raw newline inside a string is not valid JSON, but the call was understood anyway.
    lenient = _read(text, strict=False)
    return json.dumps(lenient if isinstance(lenient, dict) else {UNREADABLE: text[:_LONGEST]})


def _read(text: str, *, strict: bool) -> object:
    try:
        value: object = json.loads(text, strict=strict, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return value


def _finite(text: str) -> float:
    """Refuse NaN and infinity: Python reads them, but they are not valid JSON."""
    if math.isfinite(number := float(text)):
        return number
    raise ValueError(text)


ChatMessage = dict[str, object]
"""A message in the format of OpenAI's chat API."""

CallArguments = dict[str, object]
"""Keyword arguments of litellm's completion call."""

_CACHE_MARK = {"type": "ephemeral"}
_MARKED_TAIL = 2


def call_arguments(request: ModelRequest) -> CallArguments:
    """Return everything that a provider is to receive, as JSON data."""
    arguments: CallArguments = {"model": request.model, "messages": chat_messages(request)}
    if request.tools:
        arguments["tools"] = list(request.tools)
        arguments["tool_choice"] = "auto"
    if request.api_base:
        arguments["api_base"] = request.api_base
    if request.effort:
        arguments["reasoning_effort"] = request.effort
    limit = request.max_tokens or traits_of(request.model).reply_limit
    if limit is not None:
        arguments["max_tokens"] = limit
    return arguments


def chat_messages(request: ModelRequest) -> list[ChatMessage]:
    """Return the system prompt and the conversation, with cache marks if the provider supports them."""
    traits = traits_of(request.model)
    conversation = list(_conversation(request.messages, traits))
    if traits.caches_prompt:
        # Not on the model's own messages: a mark on one that has only tool calls would be lost.
        markable = [message for message in conversation if message["role"] != "assistant"]
        for message in markable[-_MARKED_TAIL:]:
            _mark(message)
    if not request.system:
        return conversation
    return [_system_message(request.system, traits), *conversation]


def _conversation(messages: Iterable[Message], traits: ModelTraits) -> Iterator[ChatMessage]:
    """Yield the messages; pictures follow the last result of their step, as most results may only be text."""
    pictures: list[Attachment] = []
    for message in messages:
        if _is_empty(message):
            continue
        if pictures and not isinstance(message, ToolMessage):
            yield _pictures_message(pictures)
            pictures = []
        yield _chat_message(message, traits)
        if isinstance(message, ToolMessage) and traits.sees_images:
            pictures += (each for each in message.attachments if each.data)
    if pictures:
        yield _pictures_message(pictures)


def _pictures_message(pictures: Sequence[Attachment]) -> ChatMessage:
    names = ", ".join(_encodable(each.label) for each in pictures)
    text = {"type": "text", "text": f"(pictures that the calls above returned: {names})"}
    return {"role": "user", "content": [*map(_image, pictures), text]}


def _image(picture: Attachment) -> ChatMessage:
    return {"type": "image_url", "image_url": {"url": f"data:{picture.media_type};base64,{picture.data}"}}


def _mark(message: ChatMessage) -> None:
    match message["content"]:
        case [*_, dict() as last]:
            last["cache_control"] = _CACHE_MARK
        case _:
            message["cache_control"] = _CACHE_MARK


def _is_empty(message: Message) -> bool:
    # Providers refuse an empty reply, and an interrupted one may be empty.
    return isinstance(message, AssistantMessage) and not message.text.strip() and not message.calls


def _system_message(text: str, traits: ModelTraits) -> ChatMessage:
    if not traits.caches_prompt:
        return {"role": "system", "content": _encodable(text)}
    block = {"type": "text", "text": _encodable(text), "cache_control": _CACHE_MARK}
    return {"role": "system", "content": [block]}


def _chat_message(message: Message, traits: ModelTraits) -> ChatMessage:
    match message:
        case UserMessage():
            return {"role": "user", "content": user_content(message, traits)}
        case ToolMessage(call_id=call_id, content=content):
            return {"role": "tool", "tool_call_id": call_id, "content": _encodable(content)}
        case AssistantMessage():
            return _assistant_message(message, traits)
        case _:
            assert_never(message)


def user_content(message: UserMessage, traits: ModelTraits) -> str | list[ChatMessage]:
    """Return the text followed by its attachments; in parts only if there is a picture."""
    blocks = [_encodable(message.text), *(_attached(each) for each in message.attachments)]
    text = "\n\n".join(blocks)
    pictures = [each for each in message.attachments if each.data and traits.sees_images]
    if not pictures:
        return text
    return [*map(_image, pictures), {"type": "text", "text": text}]


def _attached(attachment: Attachment) -> str:
    name = _encodable(attachment.label).replace('"', "'")
    # A file must not close its own tag and continue as the user.
    text = _encodable(attachment.text).replace("</attached", "<\\/attached")
    return f'<attached name="{name}">\n{text}\n</attached>'


def _assistant_message(message: AssistantMessage, traits: ModelTraits) -> ChatMessage:
    made: ChatMessage = {"role": "assistant", "content": _encodable(message.text) or None}
    if message.calls:
        made["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": past_name(call.name),
                    "arguments": past_arguments(_encodable(call.arguments)),
                },
            }
            for call in message.calls
        ]
    if traits.returns_thinking and traits_of(message.model).returns_thinking:
        blocks = [_thinking(block) for block in message.thinking if _is_sealed(block)]
        if blocks:
            made["thinking_blocks"] = blocks
    return made


def _is_sealed(block: ThinkingBlock) -> bool:
    return block.signature is not None or block.redacted_data is not None


def _thinking(block: ThinkingBlock) -> dict[str, str]:
    if block.redacted_data is not None:
        return {"type": "redacted_thinking", "data": block.redacted_data}
    return {"type": "thinking", "thinking": block.text, "signature": block.signature or ""}


def _encodable(text: str) -> str:
    """Return `text` without lone surrogates, which no HTTP body can carry."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
