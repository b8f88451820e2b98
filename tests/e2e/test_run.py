"""`coder-tui run` against a scripted server, through real litellm over real HTTP."""

import json
from pathlib import Path
from typing import Any

from tests.fakes.anthropic_server import AnthropicServer
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import Program, json_lines
from tests.fakes.script import Call, Reply
from tests.fakes.scripted_server import ScriptedServer

EDIT = Call("edit", {"path": "a.txt", "old_string": "one", "new_string": "two"})


def sent(server: ScriptedServer) -> list[dict[str, Any]]:
    """The messages of the last request."""
    messages = server.requests[-1]["messages"]
    assert isinstance(messages, list)
    return messages


def script() -> list[Reply]:
    reads = (Call("read", {"path": "a.txt"}), Call("read", {"path": "b.txt"}))
    return [Reply(text="I will look.", calls=reads), Reply(calls=(EDIT,)), Reply(text="That is it.")]


def project(tmp_path: Path) -> Program:
    program = Program.in_folder(tmp_path)
    (program.project / "a.txt").write_text("one\n")
    (program.project / "b.txt").write_text("other\n")
    return program


def test_text_reads_and_an_edit_that_nobody_approves(tmp_path: Path) -> None:
    program = project(tmp_path)
    with OpenAIServer(script()) as server:
        done = program.run(
            "run", "-p", "go", "--model", "openai/x", "--api-base", server.url, "--format", "stream-json"
        )
    lines = json_lines(done.stdout)
    assert done.returncode == 3, done.stderr
    assert lines[0] == {"type": "schema", "schema_version": 1}
    assert (
        "".join(line["text"] for line in lines if line["type"] == "text_delta") == "I will look.That is it."
    )
    finished = [(line["tool"], line["outcome"]) for line in lines if line["type"] == "tool_finished"]
    assert finished == [("read", "ok"), ("read", "ok"), ("edit", "denied")]
    assert (lines[-1]["type"], lines[-1]["exit_code"], lines[-1]["refused"]) == ("result", 3, ["edit a.txt"])
    assert (program.project / "a.txt").read_text() == "one\n"
    decisions = json.loads(program.run("sessions", "decisions", lines[-1]["session_id"], "--json").stdout)
    assert [(row["tool"], row["effect"], row["answer"], row["summary"]) for row in decisions] == [
        ("read", "allow", "", "a.txt 1-1 of 1"),
        ("read", "allow", "", "b.txt 1-1 of 1"),
        ("edit", "ask", "nobody_there", "a.txt"),
    ]


def test_the_same_edit_runs_in_edits_mode(tmp_path: Path) -> None:
    program = project(tmp_path)
    with OpenAIServer(script()) as server:
        done = program.run(
            "run",
            "-p",
            "go",
            "--model",
            "openai/x",
            "--api-base",
            server.url,
            "--permission",
            "edits",
            "--format",
            "json",
        )
        results = [message for message in sent(server) if message["role"] == "tool"]
    assert done.returncode == 0, done.stderr
    (result,) = json_lines(done.stdout)
    assert (result["outcome"], result["text"], result["files"]) == ("done", "That is it.", ["a.txt"])
    assert (program.project / "a.txt").read_text() == "two\n"
    assert len(results) == 3


def test_thinking_goes_back_to_anthropic_as_it_came(tmp_path: Path) -> None:
    program = project(tmp_path)
    replies = [
        Reply(thinking="Let me think of it.", text="Looking.", calls=(Call("read", {"path": "a.txt"}),)),
        Reply(text="Done."),
    ]
    with AnthropicServer(replies) as server:
        done = program.run(
            "run", "-p", "go", "--model", "anthropic/claude-sonnet-4-5", "--api-base", server.url
        )
        messages = sent(server)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["Looking.", "Done."]
    blocks = [block for message in messages if message["role"] == "assistant" for block in message["content"]]
    assert blocks[0] == {"type": "thinking", "thinking": "Let me think of it.", "signature": "c2lnbmF0dXJl"}
