"""A scripted server on loopback that speaks Anthropic's Messages API, streamed.

    async with AnthropicServer([Reply(thinking="hm", signature="c2ln", text="hi")]) as server:
        ... model="anthropic/claude-sonnet-4-5", api_base=server.url ...

Script, responder and use as a program are those of `tests.fakes.openai_server`.
"""

import json
import sys
from collections.abc import Iterator
from typing import ClassVar

from tests.fakes.script import Call, JsonObject, Reply, Tokens, words
from tests.fakes.scripted_server import ScriptedServer, run_as_script

_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class AnthropicServer(ScriptedServer):
    """Speaks `POST /v1/messages`."""

    path: ClassVar[str] = "/v1/messages"
    base: ClassVar[str] = ""

    def events(self, reply: Reply, request: JsonObject) -> Iterator[bytes]:
        tokens = reply.usage or Tokens(0, 0)
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": request.get("model", ""),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {**_usage(tokens), "output_tokens": 1},
        }
        yield _event("message_start", {"message": message})
        for index, block in enumerate(_blocks(reply, len(self.requests))):
            yield from _block_events(index, *block)
        reason = reply.finish or ("tool_use" if reply.calls else "end_turn")
        delta: JsonObject = {"stop_reason": reason, "stop_sequence": None}
        yield _event("message_delta", {"delta": delta, "usage": {"output_tokens": tokens.output}})
        yield _event("message_stop", {})

    def error_body(self, reply: Reply) -> JsonObject:
        kind = _ERROR_TYPES.get(reply.status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": reply.error}}


Block = tuple[JsonObject, list[JsonObject]]
"""How a content block starts, and its deltas."""


def _blocks(reply: Reply, turn: int) -> Iterator[Block]:
    if reply.redacted:
        yield {"type": "redacted_thinking", "data": reply.redacted}, []
    if reply.thinking:
        deltas: list[JsonObject] = [
            {"type": "thinking_delta", "thinking": piece} for piece in words(reply.thinking)
        ]
        seal: JsonObject = {"type": "signature_delta", "signature": reply.signature}
        yield {"type": "thinking", "thinking": "", "signature": ""}, [*deltas, seal]
    if reply.text:
        yield (
            {"type": "text", "text": ""},
            [{"type": "text_delta", "text": piece} for piece in words(reply.text)],
        )
    for index, call in enumerate(reply.calls):
        start: JsonObject = {
            "type": "tool_use",
            "id": call.id or f"toolu_{turn}_{index}",
            "name": call.name,
            "input": {},
        }
        yield start, _argument_deltas(call, reply.argument_piece)


def _argument_deltas(call: Call, size: int) -> list[JsonObject]:
    text = call.arguments if isinstance(call.arguments, str) else json.dumps(dict(call.arguments))
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    return [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


def _block_events(index: int, start: JsonObject, deltas: list[JsonObject]) -> Iterator[bytes]:
    yield _event("content_block_start", {"index": index, "content_block": start})
    for delta in deltas:
        yield _event("content_block_delta", {"index": index, "delta": delta})
    yield _event("content_block_stop", {"index": index})


def _event(kind: str, fields: JsonObject) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def _usage(tokens: Tokens) -> JsonObject:
    return {
        "input_tokens": tokens.input - tokens.cached - tokens.cache_write,
        "output_tokens": tokens.output,
        "cache_read_input_tokens": tokens.cached,
        "cache_creation_input_tokens": tokens.cache_write,
    }


if __name__ == "__main__":
    run_as_script(AnthropicServer, sys.argv[1:])
