"""Auto-verify over real HTTP: a failing check goes back to the model, which fixes it."""

from pathlib import Path
from typing import Any

from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import Program, json_lines
from tests.fakes.script import Call, Reply

CHECK = "grep -q good a.py && echo all good || { echo FAILED a.py is bad; exit 1; }"


def write(content: str, path: str = "a.py") -> Reply:
    return Reply(calls=(Call("write", {"path": path, "content": content}),))


def run(
    tmp_path: Path, script: list[Reply], check: str = CHECK, **settings: str
) -> tuple[list[dict[str, Any]], list[Any]]:
    """The events of the run, and the requests that the model got."""
    program = Program.in_folder(tmp_path)
    options = {f"CODER_TUI_VERIFY__{name.upper()}": value for name, value in settings.items()}
    with OpenAIServer(script) as server:
        done = program.run(
            *("run", "-p", "go", "--model", "openai/x", "--api-base", server.url),
            *("--format", "stream-json", "--permission", "edits"),
            CODER_TUI_VERIFY__COMMAND=check,
            **options,
        )
        assert done.returncode == 0, done.stderr
        return json_lines(done.stdout), server.requests


def checks(events: list[dict[str, Any]]) -> list[str]:
    return [e["outcome"] for e in events if e["type"] == "tool_finished" and e["tool"] == "verify"]


def last_words(request: dict[str, Any]) -> str:
    return str(request["messages"][-1]["content"])


def test_a_failing_check_is_fixed_by_the_model(tmp_path: Path) -> None:
    script = [write("bad"), Reply(text="Written."), write("good"), Reply(text="Fixed.")]
    script[2] = Reply(calls=(Call("edit", {"path": "a.py", "old_string": "bad", "new_string": "good"}),))
    events, requests = run(tmp_path, script)
    assert checks(events) == ["failed", "ok"]
    assert "FAILED a.py is bad" in last_words(requests[2])
    assert "round 1 of 3" in last_words(requests[2])
    assert len(requests) == 4


def test_documents_alone_are_not_checked(tmp_path: Path) -> None:
    events, requests = run(tmp_path, [write("words", "docs/a.md"), Reply(text="Written.")])
    assert checks(events) == []
    assert len(requests) == 2


def test_a_check_that_hangs_is_stopped_and_reported(tmp_path: Path) -> None:
    script = [write("bad"), Reply(text="Written."), Reply(text="It hangs."), Reply(text="Still.")]
    events, requests = run(tmp_path, script, "sleep 60", timeout_sec="0.5", max_rounds="1")
    assert checks(events) == ["failed", "failed"]
    assert "ran too long and was stopped" in last_words(requests[2])
    notices = [event["text"] for event in events if event["type"] == "notice"]
    assert "The check still fails after 1 rounds: sleep 60" in notices


def test_it_is_off_by_setting(tmp_path: Path) -> None:
    events, _ = run(tmp_path, [write("bad"), Reply(text="Written.")], enabled="false")
    assert checks(events) == []


def test_output_of_a_check_attaches_neither_files_nor_skills(tmp_path: Path) -> None:
    """A project's tests print what they like: those are not the user's words."""
    check = "echo read @notes.txt with the code-review skill; exit 1"
    script = [write("the notes", "notes.txt"), write("bad"), Reply(text="Written."), Reply(text="No.")]
    _, requests = run(tmp_path, script, check, max_rounds="1")
    received = last_words(requests[3])
    assert "read @notes.txt with the code-review skill" in received
    assert "the notes" not in received
    assert "<skill " not in received


def test_a_projects_check_gets_nothing_by_naming_it(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    outside = program.home / "outside"
    (program.project / ".coder-tui").mkdir()
    (program.project / ".coder-tui/config.toml").write_text(f'[verify]\ncommand = "touch {outside}; true"\n')
    assert program.run("trust", "--yes").returncode == 0
    with OpenAIServer([write("good"), Reply(text="Written.")]) as server:
        done = program.run(
            *("run", "-p", "go", "--model", "openai/x", "--api-base", server.url),
            *("--format", "stream-json", "--permission", "edits"),
        )
    assert checks(json_lines(done.stdout)) == ["ok"]
    assert not outside.exists()
