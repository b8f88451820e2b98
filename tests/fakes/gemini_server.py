"""A scripted server on loopback that speaks Gemini's API, streamed.

    async with GeminiServer([Reply(text="hi")]) as server:
        ... model="gemini/gemini-2.5-pro", api_base=server.url ...

Script, responder and use as a program are those of `tests.fakes.openai_server`.
"""

import json
import sys
from collections.abc import Iterator
from typing import ClassVar

from tests.fakes.script import Call, JsonObject, Reply, Tokens, words
from tests.fakes.scripted_server import ScriptedServer, run_as_script


class GeminiServer(ScriptedServer):
    """Speaks `POST …:streamGenerateContent?alt=sse` for one model.

    A call comes whole, in an event of its own. The last event has the finish reason and nothing else.
    """

    path: ClassVar[str] = "/v1beta/models/gemini-2.5-pro:streamGenerateContent"
    base: ClassVar[str] = "/v1beta"

    def events(self, reply: Reply, request: JsonObject) -> Iterator[bytes]:
        for piece in words(reply.thinking):
            yield _event([{"text": piece, "thought": True}])
        for piece in words(reply.text):
            yield _event([{"text": piece}])
        for call in reply.calls:
            yield _event([{"functionCall": _call(call)}])
        yield _event([{"text": ""}], finish=reply.finish or "STOP", tokens=reply.usage)

    def error_body(self, reply: Reply) -> JsonObject:
        return {"error": {"code": reply.status, "message": reply.error, "status": reply.error_code}}


def _call(call: Call) -> JsonObject:
    arguments = json.loads(call.arguments) if isinstance(call.arguments, str) else dict(call.arguments)
    return {"name": call.name, "args": arguments}


def _event(parts: list[JsonObject], *, finish: str = "", tokens: Tokens | None = None) -> bytes:
    candidate: JsonObject = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    whole: JsonObject = {"candidates": [candidate], "responseId": "r1", "modelVersion": "gemini-2.5-pro"}
    if tokens is not None:
        whole["usageMetadata"] = {
            "promptTokenCount": tokens.input,
            "cachedContentTokenCount": tokens.cached,
            "candidatesTokenCount": tokens.output - tokens.reasoning,
            "thoughtsTokenCount": tokens.reasoning,
            "totalTokenCount": tokens.input + tokens.output,
        }
    return f"data: {json.dumps(whole)}\r\n\r\n".encode()


if __name__ == "__main__":
    run_as_script(GeminiServer, sys.argv[1:])
