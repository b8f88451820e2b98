"""A scripted OpenAI-compatible server on loopback (Chat Completions, streamed).

    server = OpenAIServer([Reply(text="hi", calls=(Call("read", {"path": "a"}),)), Reply(status=500), ...])
    async with server:                       # or `with server:`; it runs in a thread of its own
        ... model="openai/x", api_base=server.url ...
    assert server.requests[0]["messages"] == [...]

A responder stands in for a script: `OpenAIServer(lambda request: Reply(text=...))`. See `Reply` for delays,
errors, cuts, stalls and garbage. As a program it takes a JSON list of replies from a file or standard input
and prints its address: `python -m tests.fakes.openai_server replies.json`.
"""

import json
import sys
from collections.abc import Iterator
from typing import ClassVar

from tests.fakes.script import JsonObject, Reply, Tokens, words
from tests.fakes.scripted_server import ScriptedServer, run_as_script


class OpenAIServer(ScriptedServer):
    """Speaks `POST /v1/chat/completions`."""

    path: ClassVar[str] = "/v1/chat/completions"
    base: ClassVar[str] = "/v1"

    def events(self, reply: Reply, request: JsonObject) -> Iterator[bytes]:
        model = str(request.get("model", ""))
        yield _chunk(model, {"role": "assistant", "content": ""})
        for piece in words(reply.thinking):
            yield _chunk(model, {"reasoning_content": piece})
        for piece in words(reply.text):
            yield _chunk(model, {"content": piece})
        for delta in _call_deltas(reply, len(self.requests)):
            yield _chunk(model, {"tool_calls": [delta]})
        yield _chunk(model, {}, finish=reply.finish or ("tool_calls" if reply.calls else "stop"))
        if reply.usage is not None:
            yield _event({"model": model, "choices": [], "usage": _usage(reply.usage)})
        yield b"data: [DONE]\n\n"

    def error_body(self, reply: Reply) -> JsonObject:
        return {"error": {"message": reply.error, "type": "scripted", "code": reply.error_code or None}}


def _call_deltas(reply: Reply, turn: int) -> Iterator[JsonObject]:
    calls, size = reply.calls, reply.argument_piece
    for index, call in enumerate(calls):
        identity = call.id or f"call_{turn}_{index}"
        yield {
            "index": index,
            "id": identity,
            "type": "function",
            "function": {"name": call.name, "arguments": ""},
        }
    for index, call in enumerate(calls):
        text = call.arguments if isinstance(call.arguments, str) else json.dumps(dict(call.arguments))
        for start in range(0, len(text), size):
            yield {"index": index, "function": {"arguments": text[start : start + size]}}


def _chunk(model: str, delta: JsonObject, *, finish: str | None = None) -> bytes:
    return _event({"model": model, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _event(fields: JsonObject) -> bytes:
    whole = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, **fields}
    return b"data: " + json.dumps(whole).encode() + b"\n\n"


def _usage(tokens: Tokens) -> JsonObject:
    return {
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cached},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    }


if __name__ == "__main__":
    run_as_script(OpenAIServer, sys.argv[1:])
