"""A scripted server on loopback that speaks Ollama's own API, streamed.

    async with OllamaServer([Reply(text="hi")], window=8192) as server:
        ... model="ollama_chat/qwen3", api_base=server.url ...

Script, responder and use as a program are those of `tests.fakes.openai_server`.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from typing import ClassVar

from tests.fakes.script import Call, JsonObject, Reply, words
from tests.fakes.scripted_server import Responder, ScriptedServer, run_as_script


class OllamaServer(ScriptedServer):
    """Speaks `POST /api/chat` and `POST /api/show`; `window` is the size that the model was trained with.

    `shown` counts the requests for it. A call comes whole, in an event of its own.
    """

    path: ClassVar[str] = "/api/chat"
    base: ClassVar[str] = ""

    def __init__(self, script: Sequence[Reply] | Responder, *, window: int | None = None) -> None:
        super().__init__(script)
        self._window = window
        self.shown = 0

    def answer(self, path: str) -> JsonObject | None:
        if path != "/api/show" or self._window is None:
            return None
        self.shown += 1
        facts = {"general.architecture": "qwen3", "qwen3.context_length": self._window}
        return {"model_info": facts, "capabilities": ["completion", "tools"]}

    def events(self, reply: Reply, request: JsonObject) -> Iterator[bytes]:
        for piece in words(reply.thinking):
            yield _event({"content": "", "thinking": piece})
        for piece in words(reply.text):
            yield _event({"content": piece})
        for call in reply.calls:
            yield _event({"content": "", "tool_calls": [{"function": _call(call)}]})
        ending: JsonObject = {"done": True, "done_reason": reply.finish or "stop"}
        if reply.usage is not None:
            ending |= {"prompt_eval_count": reply.usage.input, "eval_count": reply.usage.output}
        yield _event({"content": ""}, ending)

    def error_body(self, reply: Reply) -> JsonObject:
        return {"error": reply.error}


def _call(call: Call) -> JsonObject:
    arguments = json.loads(call.arguments) if isinstance(call.arguments, str) else dict(call.arguments)
    return {"name": call.name, "arguments": arguments}


def _event(message: JsonObject, ending: JsonObject | None = None) -> bytes:
    whole = {"model": "qwen3", "message": {"role": "assistant", **message}, **(ending or {"done": False})}
    return json.dumps(whole).encode() + b"\n"


if __name__ == "__main__":
    run_as_script(OllamaServer, sys.argv[1:])
