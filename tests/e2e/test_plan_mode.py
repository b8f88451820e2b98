"""Plan mode over real HTTP: questions, Esc, a plan refused and approved; with a screen and without."""

import json
from pathlib import Path
from typing import Any

import pytest

from coder_tui.tools.builtin.plan_exit import NOBODY as NOBODY_APPROVES
from coder_tui.tools.builtin.question import CANCELLED
from coder_tui.tools.builtin.question import NOBODY as NOBODY_ANSWERS
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import PROGRAM, Program, json_lines
from tests.fakes.script import Call, Reply
from tests.fakes.tmux import Tmux, needs_tmux


def _question(text: str, *labels: str, multi: bool = False) -> dict[str, Any]:
    return {
        "question": text,
        "options": [{"label": label, "description": ""} for label in labels],
        "multi": multi,
    }


QUESTIONS = {
    "questions": [
        _question("Where should sessions live?", "sqlite", "postgres"),
        _question("Which tests?", "unit", "property", "end to end", multi=True),
        _question("When is the release?", "this week", "next week"),
    ]
}
ASK = Call("question", QUESTIONS)
PLAN = "# Make div safe\n\n1. guard the divisor\n2. add a test"
BETTER = "# Make div safe, test first\n\n1. add a test\n2. guard the divisor"
WRITE = Call("write", {"path": "div.py", "content": "safe = True\n"})


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program.in_folder(tmp_path)


def results(server: OpenAIServer) -> list[dict[str, Any]]:
    """What the model learned about its calls, in order."""
    messages: Any = server.requests[-1]["messages"]
    return [json.loads(message["content"]) for message in messages if message["role"] == "tool"]


def offered(server: OpenAIServer, request: int) -> set[str]:
    tools: Any = server.requests[request]["tools"]
    return {tool["function"]["name"] for tool in tools}


def system(server: OpenAIServer, request: int) -> str:
    messages: Any = server.requests[request]["messages"]
    return str(messages[0]["content"])


def screen(program: Program, server: OpenAIServer, *flags: str) -> Tmux:
    command = " ".join([PROGRAM, "--model openai/x", f"--api-base {server.url}", "--permission plan", *flags])
    return Tmux(command, program.project, program.environment, 100, 30)


def send(tmux: Tmux, text: str) -> None:
    tmux.shows(r"PLAN  (openai/)?x")
    tmux.type(text)
    tmux.keys("Enter")


def answer_all(tmux: Tmux) -> None:
    tmux.shows(r"sqlite \(Recommended\)[\s\S]*ready")
    tmux.keys("1")
    tmux.shows(r"\(●\) sqlite[\s\S]*ready")
    tmux.keys("Enter")
    tmux.shows(r"│ Which tests\?[\s\S]*ready")
    tmux.keys("3")
    tmux.shows(r"3 \[x\] end to end[\s\S]*ready")
    tmux.keys("Enter")
    tmux.shows(r"│ When is the release\?[\s\S]*ready")
    tmux.keys("Down", "Down")
    tmux.type("by friday")
    tmux.shows(r"│ by friday")
    tmux.keys("Enter")
    tmux.shows(r"✓ by friday[\s\S]*ready")
    tmux.keys("Enter")


@needs_tmux
def test_three_questions_one_with_free_text_then_a_plan_refused_and_approved(program: Program) -> None:
    script = [
        Reply(calls=(ASK,)),
        Reply(calls=(Call("plan_exit", {"plan": PLAN}),)),
        Reply(calls=(WRITE,)),
        Reply(calls=(Call("plan_exit", {"plan": BETTER}),)),
        Reply(calls=(WRITE,)),
        Reply(text="Carried out."),
    ]
    with OpenAIServer(script) as server, screen(program, server) as tmux:
        send(tmux, "make div safe")
        answer_all(tmux)
        tmux.shows(r"guard the divisor[\s\S]*ready")
        tmux.keys("d")
        tmux.shows(r"What to change\?")
        tmux.type("tests first, please")
        tmux.keys("Enter")
        tmux.shows(r"test first[\s\S]*ready")
        assert not (program.project / "div.py").exists()
        tmux.keys("C-y")
        tmux.shows(r"Allow write\?[\s\S]*ready")
        tmux.keys("C-y")
        shown = tmux.shows(r"Carried out[\s\S]*ASK  (openai/)?x")
        assert "PLAN" not in shown.splitlines()[-1]
    answers, refused, denied, approved, written = results(server)
    assert answers == {
        "ok": True,
        "answers": "1. Where should sessions live?\n   sqlite\n2. Which tests?\n   end to end\n"
        "3. When is the release?\n   in their own words: by friday",
    }
    assert refused == {"ok": True, "approved": False, "feedback": "tests first, please"}
    assert denied["error"]["type"] == "permission_denied"
    assert approved == {"ok": True, "approved": True}
    assert written["ok"] is True
    assert (program.project / "div.py").read_text() == "safe = True\n"
    assert {"question", "plan_exit"} <= offered(server, 0) and "write" not in offered(server, 0)
    assert "write" in offered(server, 4) and not {"question", "plan_exit"} & offered(server, 4)
    assert BETTER in system(server, 4) and "<plan>" not in system(server, 0)


@needs_tmux
def test_after_escape_the_model_learns_only_of_the_cancellation(program: Program) -> None:
    with (
        OpenAIServer([Reply(calls=(ASK,)), Reply(text="As you like.")]) as server,
        screen(program, server) as tmux,
    ):
        send(tmux, "make div safe")
        tmux.shows(r"sqlite \(Recommended\)[\s\S]*ready")
        tmux.keys("1")
        tmux.shows(r"\(●\) sqlite[\s\S]*ready")
        tmux.keys("Enter")
        tmux.shows(r"│ Which tests\?[\s\S]*ready")
        tmux.keys("Escape")
        tmux.shows("As you like")
    (received,) = results(server)
    assert (received["ok"], received["error"]["type"], received["error"]["message"]) == (
        False,
        "cancelled",
        CANCELLED,
    )
    assert set(received) == {"ok", "error"}
    assert "sqlite" not in json.dumps(received)


def test_without_anybody_the_model_decides_and_changes_nothing(program: Program) -> None:
    script = [
        Reply(calls=(ASK,)),
        Reply(calls=(Call("plan_exit", {"plan": PLAN}),)),
        Reply(calls=(WRITE,)),
        Reply(text="Here is the plan."),
    ]
    with OpenAIServer(script) as server:
        done = program.run(
            *("run", "-p", "make div safe", "--agent", "plan", "--format", "stream-json"),
            *("--model", "openai/x", "--api-base", server.url),
        )
    assert results(server)[:2] == [
        {"ok": True, "answers": NOBODY_ANSWERS},
        {"ok": True, "approved": False, "feedback": NOBODY_APPROVES},
    ]
    assert results(server)[2]["error"]["type"] == "permission_denied"
    assert not (program.project / "div.py").exists()
    events = json_lines(done.stdout)
    assert [event["profile"] for event in events if event["type"] == "profile_changed"] == ["plan"]
    assert events[-1]["text"] == "Here is the plan."
    assert events[-1]["refused"] == ["plan_exit Make div safe"]
    assert done.returncode == 3


def test_the_same_in_the_plain_front_end(program: Program) -> None:
    script = [
        Reply(calls=(ASK,)),
        Reply(calls=(Call("plan_exit", {"plan": PLAN}),)),
        Reply(calls=(Call("plan_exit", {"plan": BETTER}),)),
        Reply(calls=(WRITE,)),
        Reply(text="Carried out."),
    ]
    # A pipe: each line waits for what it answers.
    lines = ["make div safe", "1", "1 3", "by friday", "3", "tests first", "1", "1"]
    with OpenAIServer(script) as server:
        done = program.run(
            *("--plain", "--permission", "plan", "--model", "openai/x", "--api-base", server.url),
            stdin="\n".join(lines) + "\n",
        )
    answers, refused, approved, written = results(server)
    assert "by friday" in answers["answers"]
    assert refused == {"ok": True, "approved": False, "feedback": "tests first"}
    assert (approved, written["ok"]) == ({"ok": True, "approved": True}, True)
    assert "Mode: ask." in done.stdout
    assert "Carried out." in done.stdout


def test_a_resumed_session_still_sends_the_plan_to_the_model(program: Program) -> None:
    flags = ("--permission", "plan", "--model", "openai/x")
    script = [
        Reply(calls=(Call("plan_exit", {"plan": PLAN}),)),
        Reply(text="Approved."),
        Reply(text="Going on."),
    ]
    with OpenAIServer(script) as server:
        program.run("--plain", *flags, "--api-base", server.url, stdin="plan it\n1\n")
        program.run("run", "-p", "go on", "--continue", "--model", "openai/x", "--api-base", server.url)
    assert PLAN in system(server, 1)
    assert PLAN in system(server, 2)
    assert "write" in offered(server, 2)


def test_an_unknown_agent_is_answered_with_the_nearest_and_a_list_shows_an_agents_tools(
    program: Program,
) -> None:
    done = program.run("run", "-p", "x", "--agent", "plam", "--model", "demo")
    assert (done.returncode, done.stderr) == (2, "coder-tui: there is no agent 'plam'; did you mean plan?\n")
    done = program.run("--agent", "explore", "--plain", "--model", "demo")
    assert done.returncode == 2
    assert "explore is a sub-agent" in done.stderr
    done = program.run("run", "-p", "x", "--agent", "build", "--permission", "plan", "--model", "demo")
    assert done.stderr == "coder-tui: --agent build and --permission plan exclude each other\n"
    listed = {
        agent: {line.split()[0] for line in program.run("tool", "list", "--agent", agent).stdout.splitlines()}
        for agent in ("build", "plan", "explore")
    }
    assert "write" in listed["build"] and not {"question", "plan_exit"} & listed["build"]
    assert {"question", "plan_exit", "bash"} <= listed["plan"] and "write" not in listed["plan"]
    assert "task_finish" in listed["explore"] and not {"bash", "write", "task"} & listed["explore"]
