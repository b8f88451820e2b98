"""`coder-tui acp` with hand-written input: invalid messages, and an editor that dies."""

import asyncio
import json
from pathlib import Path
from typing import Any

from tests.fakes.openai_server import OpenAIServer
from tests.fakes.process_family import descendants, is_alive
from tests.fakes.program import PLAIN, Program
from tests.fakes.script import Call, Reply


async def test_an_invalid_message_gets_an_error_and_the_connection_stays_open(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path, PLAIN)
    process = await _by_hand(program)
    lines = [b"{", b"[1]", b'"x"', b'{"id": {}}', b"\xff\xfe", b"[" * 5000, b""]
    hello = {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {"protocolVersion": 1}}
    unsupported_servers = {"jsonrpc": "2.0", "id": 8, "method": "session/nonsense", "params": {}}
    wrong = {"jsonrpc": "2.0", "id": 9, "method": "session/prompt", "params": {"prompt": 5}}
    assert process.stdin is not None and process.stdout is not None
    for line in (*lines, *(json.dumps(each).encode() for each in (hello, unsupported_servers, wrong))):
        process.stdin.write(line + b"\n")
    answers: list[Any] = []
    while not {7, 8, 9} <= {each["id"] for each in answers}:
        answers.append(json.loads(await asyncio.wait_for(process.stdout.readline(), 60)))
    process.stdin.close()
    out, err = await asyncio.wait_for(process.communicate(), 60)

    assert [each["error"]["code"] for each in answers if each["id"] is None] == [
        -32700,
        -32600,
        -32600,
        -32600,
        -32700,
        -32700,
    ]
    by_id = {each["id"]: each for each in answers}
    assert by_id[7]["result"]["protocolVersion"] == 1
    assert (by_id[8]["error"]["code"], by_id[9]["error"]["code"]) == (-32601, -32602)
    assert (process.returncode, out, err) == (0, b"", b"")


async def _by_hand(program: Program, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *program.command("acp", *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=program.environment,
        cwd=program.project,
        limit=2**24,
    )


async def test_no_process_is_left_when_the_editor_dies_in_a_turn(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path, PLAIN)
    run = Reply(calls=(Call("bash", {"command": "echo started; sleep 1000"}),))
    with OpenAIServer([run]) as server:
        flags = ("--model", "openai/x", "--api-base", server.url, "--permission", "auto")
        process = await _by_hand(program, *flags)
        assert process.stdin is not None and process.stdout is not None
        await _send(process, 1, "session/new", {"cwd": str(program.project), "mcpServers": []})
        session_id = (await _answer(process, 1))["result"]["sessionId"]
        prompt = [{"type": "text", "text": "Run."}]
        await _send(process, 2, "session/prompt", {"sessionId": session_id, "prompt": prompt})
        while b"started" not in await asyncio.wait_for(process.stdout.readline(), 60):
            continue
        family = descendants(process.pid)
        assert family
        process.stdin.close()
        await asyncio.wait_for(process.communicate(), 60)

    assert [pid for pid in family if is_alive(pid)] == []


async def _send(process: asyncio.subprocess.Process, id: int, method: str, params: object) -> None:
    assert process.stdin is not None
    message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    process.stdin.write(json.dumps(message).encode() + b"\n")
    await process.stdin.drain()


async def _answer(process: asyncio.subprocess.Process, id: int) -> Any:
    assert process.stdout is not None
    while True:
        message = json.loads(await asyncio.wait_for(process.stdout.readline(), 60))
        if message.get("id") == id:
            return message
