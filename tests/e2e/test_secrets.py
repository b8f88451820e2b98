"""Canaries are planted wherever a secret can come from. After real runs, none is in any file we write."""

import base64
import json
from pathlib import Path

import pytest

from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import Program, json_lines
from tests.fakes.script import Call, JsonObject, Reply

KNOWN = "canary.known.value+42"
KEY = "sk-proj-canaryKey0123456789abcdef"
SHAPED = "ghp_" + "canaryShape0123456789abcdef"
PASSWORD = "canaryPassword99"
CANARIES = (KNOWN, base64.b64encode(f"user:{KNOWN}".encode()).decode()[8:24], KEY, SHAPED, PASSWORD)
FILE = (
    f"token {SHAPED}\nDB_PASSWORD={PASSWORD}\nmine {KNOWN}\n"
    f"basic {base64.b64encode(f'user:{KNOWN}'.encode()).decode()}\n"
)
SETTINGS = '[permission]\nedit = "allow"\n[permission.bash]\n"cat*" = "allow"\n"echo*" = "allow"\n'
ENVIRONMENT = {"OPENAI_API_KEY": KEY, "MY_SERVICE_SECRET": KNOWN}


def script() -> list[Reply]:
    leak = f"I found {SHAPED} and https://me:{PASSWORD}@host/ there."
    calls = (
        Call("read", {"path": "notes.txt"}),
        Call("bash", {"command": "cat notes.txt large.txt"}),
        Call("bash", {"command": f"echo {SHAPED}"}),
        Call("write", {"path": "made.txt", "content": f"{SHAPED}\n"}),
        Call("edit", {"path": "gone.txt", "old_string": SHAPED, "new_string": f"password={PASSWORD}"}),
        Call("todowrite", {"todos": [_todo()]}),
        Call("nothing", {"token": PASSWORD}),
    )
    failure = Reply(status=400, error=f"bad call of https://api.host/v1?key={KEY} by {KNOWN}")
    return [Reply(text=leak, thinking=leak, calls=calls), Reply(text=leak), failure, failure]


def _todo() -> dict[str, str]:
    return {"id": "1", "content": f"rotate {SHAPED}", "status": "pending", "priority": "low"}


def program_with_canaries(folder: Path) -> Program:
    program = Program.in_folder(folder)
    (program.project / "notes.txt").write_text(FILE)
    (program.project / "large.txt").write_text(f"{FILE}{'filler ' * 8}\n" * 300)
    config = program.home / ".config/coder-tui"
    config.mkdir(parents=True)
    (config / "config.toml").write_text(SETTINGS)
    return program


def found_in(text: str) -> list[str]:
    return [canary for canary in CANARIES if canary in text]


def found_under(folder: Path) -> dict[str, list[str]]:
    """Which files hold which canaries; what undo keeps of a file is that file, and is not looked at."""
    files = [path for path in folder.rglob("*") if path.is_file() and "blobs" not in path.parts]
    found = {str(path.relative_to(folder)): found_in(path.read_bytes().decode("latin-1")) for path in files}
    return {name: canaries for name, canaries in found.items() if canaries}


def results_in(request: JsonObject) -> list[dict[str, object]]:
    messages = request["messages"]
    assert isinstance(messages, list)
    return [message for message in messages if message["role"] == "tool"]


@pytest.mark.parametrize("form", ["text", "stream-json"])
def test_no_output_or_file_of_a_run_contains_a_canary(tmp_path: Path, form: str) -> None:
    program = program_with_canaries(tmp_path)
    with OpenAIServer(script()) as server:
        arguments = ("run", "--model", "openai/x", "--api-base", server.url, "--format", form)
        prompt = f"use {SHAPED}, password={PASSWORD} and {KNOWN}"
        done = program.run(*arguments, "-p", prompt, **ENVIRONMENT)
        failed = program.run(*arguments, "-p", "again", "--continue", **ENVIRONMENT)
        received = results_in(server.requests[1])
    assert (done.returncode, failed.returncode) == (0, 1), done.stderr + failed.stderr
    printed = done.stdout + done.stderr + failed.stdout + failed.stderr
    assert found_in(printed) == []
    assert "[redacted]" in done.stdout + done.stderr
    assert found_under(program.home) == {}
    assert any((program.home / ".local/share/coder-tui/tool-output").iterdir())
    # The model sees the file as it is, but for what is this process's own.
    contents = "".join(str(message["content"]) for message in received)
    assert len(received) == 7
    assert (SHAPED in contents, PASSWORD in contents) == (True, True)
    assert [canary for canary in CANARIES[:2] if canary in contents] == []


def test_sessions_and_their_exports_contain_no_canary(tmp_path: Path) -> None:
    program = program_with_canaries(tmp_path)
    with OpenAIServer(script()) as server:
        arguments = ("run", "--model", "openai/x", "--api-base", server.url, "--format", "json")
        done = program.run(*arguments, "-p", f"use {SHAPED}", **ENVIRONMENT)
    assert found_in(done.stdout + done.stderr) == []
    (result,) = json_lines(done.stdout)
    number = result["session_id"]
    commands = (
        ("sessions", "list", "--all"),
        ("sessions", "search", "use"),
        ("sessions", "show", number),
        ("sessions", "export", number, "--format", "md"),
        ("sessions", "export", number, "--format", "jsonl"),
        ("sessions", "decisions", number),
        ("config", "show"),
        ("doctor",),
    )
    printed = [program.run(*command, **ENVIRONMENT) for command in commands]
    assert {
        command: found_in(ran.stdout + ran.stderr) for command, ran in zip(commands, printed, strict=True)
    } == {command: [] for command in commands}
    assert all("[redacted]" in ran.stdout for ran in (printed[1], printed[3], printed[4]))


def test_a_tool_call_prints_what_a_model_would_get(tmp_path: Path) -> None:
    program = program_with_canaries(tmp_path)
    done = program.run("tool", "call", "read", json.dumps({"path": "notes.txt"}), **ENVIRONMENT)
    (result,) = json_lines(done.stdout)
    assert (SHAPED in result["content"], found_in(done.stdout)) == (True, [SHAPED, PASSWORD])
