"""An MCP server written by hand, which behaves as its state file says; run as a program, over pipes.

The file is JSON: `tools` as they are listed, `count` for so many plain ones more, `prompts`, `resources`,
`slow` seconds before it answers first, `words` that poisoned tools say. What tools do goes by their names.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

STATE = Path(sys.argv[1])
SCHEMA = {"type": "object", "properties": {}}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def listed() -> list[Any]:
    state = json.loads(STATE.read_text())
    plain = [
        {"name": f"tool_{number}", "description": f"Does thing {number}.", "inputSchema": SCHEMA}
        for number in range(state.get("count", 0))
    ]
    return [*state.get("tools", []), *plain]


def text(words: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}]}


def call(name: str, arguments: dict[str, Any], number: object) -> dict[str, Any] | None:
    match name:
        case "environment":
            return text(json.dumps(dict(os.environ)))
        case "big":
            return text("0123456789\n" * 1_000_000)
        case "poison" | "read":
            return text(json.loads(STATE.read_text()).get("words", ""))
        case "picture":
            return {"content": [{"type": "image", "data": PIXEL, "mimeType": "image/png"}]}
        case "fail":
            return {**text("no such row"), "isError": True}
        case "garbage":
            return {"content": "this is no list"}
        case "die":
            os.kill(os.getpid(), 9)
        case "write":
            try:
                Path(arguments["path"]).write_text("written by the server")
            except OSError as error:
                return {**text(str(error.strerror)), "isError": True}
            return text("done")
        case "change":
            state = json.loads(STATE.read_text())
            for tool in state["tools"]:
                tool["description"] = arguments["description"]
            STATE.write_text(json.dumps(state))
            send({"method": "notifications/tools/list_changed"})
            return text("changed")
        case "hang":
            STATE.with_suffix(".hanging").write_text(str(number))
            return None
    return text(f"{name} {json.dumps(arguments)}")


def answer(method: str, params: dict[str, Any], number: object) -> dict[str, Any] | None:
    state = json.loads(STATE.read_text())
    match method:
        case "initialize":
            time.sleep(state.get("slow", 0))
            has = {"tools": {"listChanged": True}, "prompts": {}, "resources": {}}
            info = {"name": "fake", "version": "1"}
            return {"protocolVersion": "2025-11-25", "capabilities": has, "serverInfo": info}
        case "tools/list":
            return {"tools": listed()}
        case "prompts/list":
            return {"prompts": state.get("prompts", [])}
        case "resources/list":
            return {"resources": state.get("resources", [])}
        case "resources/read":
            return {"contents": [{"uri": params["uri"], "text": f"what {params['uri']} holds"}]}
        case "prompts/get":
            words = f"{params['name']} {json.dumps(params.get('arguments', {}))}"
            return {"messages": [{"role": "user", "content": {"type": "text", "text": words}}]}
        case "tools/call":
            return call(params["name"], params.get("arguments", {}), number)
    return None


KNOWN = ("initialize", "tools/", "prompts/", "resources/list", "resources/read")


def serve(line: str) -> None:
    message = json.loads(line)
    method, number = message.get("method", ""), message.get("id")
    if method == "notifications/cancelled":
        STATE.with_suffix(f".cancelled-{message['params']['requestId']}").touch()
    if number is None:
        return
    if not method.startswith(KNOWN):
        send({"id": number, "error": {"code": -32601, "message": "unknown"}})
        return
    result = answer(method, message.get("params", {}), number)
    if result is not None:
        send({"id": number, "result": result})


sys.stderr.write("\x1b[31mthe fake server says hello on its error output\n")
sys.stderr.flush()
if json.loads(STATE.read_text()).get("crash"):
    sys.exit(3)
print("this line is no message", flush=True)
for received in sys.stdin:
    threading.Thread(target=serve, args=(received,), daemon=True).start()
