"""`kill -9` in the middle of a turn: finished steps are stored, and the session continues."""

import asyncio
import json
import os
import select
import signal
import subprocess
from pathlib import Path

import pytest

from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import COMMANDS_RUN, PATIENCE, PLAIN, Program
from tests.fakes.script import Call, JsonObject, Reply


def sent(server: OpenAIServer) -> list[JsonObject]:
    """The last request's conversation without the system prompt."""
    messages = server.requests[-1]["messages"]
    assert isinstance(messages, list)
    return [message for message in messages if message["role"] != "system"]


async def test_a_killed_turn_continues_from_its_last_finished_step(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path, PLAIN)
    (program.project / "a.txt").write_text("one\n")
    read = Reply(text="First a look.", calls=(Call("read", {"path": "a.txt"}),))
    async with OpenAIServer([read, Reply(text="half of", stall_after=2), Reply(text="Done.")]) as server:
        model = ("--model", "openai/x", "--api-base", server.url)
        process = program.start("run", "-p", "go", *model)
        await server.requested(2)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        done = program.run("run", "-p", "go on", "--continue", *model)
        conversation = sent(server)
    assert (done.returncode, done.stdout) == (0, "Done.\n"), done.stderr
    assert [message["role"] for message in conversation] == ["user", "assistant", "tool", "user"]
    assert json.loads(str(conversation[2]["content"]))["content"] == "one"
    assert conversation[3]["content"] == "go on"


def wait_for_ring(pipe: Path, process: "subprocess.Popen[str]") -> None:
    """Wait until something is written to the pipe; fail if the program answers without it."""
    with os.fdopen(os.open(pipe, os.O_RDWR)) as bell:
        assert process.stdout is not None
        ready, _, _ = select.select([bell, process.stdout], [], [], PATIENCE)
        assert bell in ready, process.communicate()


async def test_a_running_call_is_reported_as_interrupted_and_not_run_again(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path, PLAIN)
    os.mkfifo(program.project / "up")
    calls = (Call("bash", {"command": "echo ran >> log; echo up > up; sleep 30"}), Call("list", {}))
    async with OpenAIServer([Reply(calls=calls), Reply(text="I see.")]) as server:
        model = ("--model", "openai/x", "--api-base", server.url)
        process = program.start("run", "-p", "go", "--permission", "auto", *model, **COMMANDS_RUN)
        await asyncio.to_thread(wait_for_ring, program.project / "up", process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        done = program.run("run", "-p", "go on", "--continue", *model)
        conversation = sent(server)
    assert done.returncode == 0, done.stderr
    results = [json.loads(str(message["content"])) for message in conversation if message["role"] == "tool"]
    assert [result["error"]["type"] for result in results] == ["cancelled", "cancelled"]
    assert "may have run" in results[0]["error"]["message"]
    assert (program.project / "log").read_text() == "ran\n"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
async def test_a_signal_ends_the_turn_and_a_result_is_still_printed(
    tmp_path: Path, number: int, code: int
) -> None:
    program = Program.in_folder(tmp_path, PLAIN)
    async with OpenAIServer([Reply(text="half of it", stall_after=3)]) as server:
        process = program.start(
            "run", "-p", "go", "--format", "json", "--model", "openai/x", "--api-base", server.url
        )
        await server.requested()
        process.send_signal(number)
        output, errors = process.communicate(timeout=60)
        await server.disconnected()
    assert process.returncode == code, errors
    assert json.loads(output)["outcome"] == "interrupted"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_terminated_call_leaves_nothing_in_the_workspace(tmp_path: Path, number: int) -> None:
    program = Program.in_folder(tmp_path, PLAIN)
    os.mkfifo(program.project / "up")
    command = json.dumps({"command": "echo up > up; sleep 60"})
    process = program.start("tool", "call", "bash", command, "--permission", "auto", **COMMANDS_RUN)
    wait_for_ring(program.project / "up", process)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 143
    assert [path.name for path in program.project.iterdir()] == ["up"]


def test_a_program_that_waits_for_calls_can_be_terminated(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path, PLAIN)
    process = subprocess.Popen(
        program.command("tool", "call", "--stdin"),
        cwd=program.project,
        env=program.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write('{"tool": "list", "args": {}}\n')
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["ok"] is True
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 143
