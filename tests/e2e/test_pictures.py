"""A picture from the folder through the tool to a server with OpenAI's protocol."""

import base64
import struct
from pathlib import Path
from typing import Any

from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import Program, json_lines
from tests.fakes.script import Call, Reply

PNG = b"\x89PNG\r\n\x1a\n" + (13).to_bytes(4, "big") + b"IHDR" + struct.pack(">II", 2, 3) + bytes(20)


def looked(tmp_path: Path, model: str) -> tuple[OpenAIServer, list[dict[str, Any]]]:
    program = Program.in_folder(tmp_path)
    (program.project / "shot.png").write_bytes(PNG)
    script = [Reply(calls=(Call("read", {"path": "shot.png"}),)), Reply(text="I have looked.")]
    with OpenAIServer(script) as server:
        arguments = ("run", "-p", "look", "--model", model, "--api-base", server.url)
        done = program.run(*arguments, "--format", "stream-json")
    assert done.returncode == 0, done.stderr
    return server, json_lines(done.stdout)


def last_message(server: OpenAIServer) -> Any:
    """Of the request behind the call; one for a title has no tools."""
    asked: Any = [request for request in server.requests if "tools" in request]
    return asked[1]["messages"][-1]


def test_read_shows_a_picture_to_a_model_with_vision(tmp_path: Path) -> None:
    server, events = looked(tmp_path, "openai/gpt-4o")
    last = last_message(server)
    url = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    assert (last["role"], last["content"][0]["image_url"]["url"]) == ("user", url)
    finished = next(event for event in events if event["type"] == "tool_finished")
    assert finished["display"] == {
        "name": "shot.png",
        "media_type": "image/png",
        "width": 2,
        "height": 3,
        "size_bytes": len(PNG),
        "type": "image",
    }


def test_a_model_without_vision_gets_an_error(tmp_path: Path) -> None:
    server, _ = looked(tmp_path, "openai/x")
    last = last_message(server)
    assert last["role"] == "tool"
    assert "cannot see pictures" in last["content"]
