"""Sub-agents over real HTTP: answers, failures, approvals, stopping, cost; with a screen and without."""

import json
import signal
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from coder_tui.agent.subagents import STOPPED_BY_USER
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import COMMANDS_RUN, PROGRAM, Program, json_lines
from tests.fakes.script import Call, JsonObject, Reply, Tokens
from tests.fakes.tmux import Tmux, needs_tmux

MODEL = "openai/gpt-4o-mini"
PRICE = 1000 * 0.15e-6 + 100 * 0.6e-6
"""Dollars of one reply."""
USED = Tokens(input=1000, output=100)
MARKER = "sleep 4242"


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program.in_folder(tmp_path)


def say(*calls: Call, text: str = "", **more: Any) -> Reply:
    return Reply(text=text, calls=calls, usage=USED, **more)


def finish(summary: str, **more: Any) -> Call:
    return Call("task_finish", {"summary": summary, **more})


def make(name: str) -> Call:
    return Call("write", {"path": name, "content": f"{name}\n"})


def fork(*tasks: dict[str, str]) -> Reply:
    return say(Call("fork", {"tasks": list(tasks)}))


def branching(script: Mapping[str, Sequence[Reply]]) -> Callable[[JsonObject], Reply]:
    """Replies by the first words of each conversation, in order; anything else is a title."""
    left, guard = {key: list(replies) for key, replies in script.items()}, Lock()

    def respond(request: JsonObject) -> Reply:
        with guard:
            replies = left.get(first_words(request), [])
            return replies.pop(0) if replies else Reply(text="A title", usage=Tokens(0, 0))

    return respond


def first_words(request: JsonObject) -> str:
    messages: Any = request["messages"]
    content = next(message["content"] for message in messages if message["role"] == "user")
    return str(content if isinstance(content, str) else content[0]["text"]).partition("\n")[0]


def received(server: OpenAIServer, branch: str) -> list[dict[str, Any]]:
    """The results that a conversation's model got, in order."""
    request = [each for each in server.requests if first_words(each) == branch][-1]
    messages: Any = request["messages"]
    return [json.loads(message["content"]) for message in messages if message["role"] == "tool"]


def paid(server: OpenAIServer, script: Mapping[str, Sequence[Reply]]) -> int:
    """How many replies were paid for."""
    return sum(first_words(request) in script for request in server.requests)


def cost_in_store(program: Program) -> float:
    with sqlite3.connect(program.database) as connection:
        query = "SELECT sum(cost) FROM usage JOIN sessions ON id = session_id WHERE parent_id IS NULL"
        (cost,) = connection.execute(query).fetchone()
    return float(cost)


def states(program: Program) -> list[tuple[str, str]]:
    """The sub-agents in the store, and how each is."""
    with sqlite3.connect(program.database) as connection:
        return connection.execute("SELECT agent, state FROM children ORDER BY rowid").fetchall()


def asked(server: OpenAIServer, branch: str) -> int:
    return sum(first_words(request) == branch for request in server.requests)


def until(holds: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < give_up, "the awaited state never came"
        time.sleep(0.05)


def running(marker: str) -> list[str]:
    """Processes with this in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue  # it has just ended
            if marker in words and "pytest" not in words:
                found.append(words)
    return found


FOUR = {
    "go": [
        fork(
            {"objective": "write one"},
            {"objective": "fail", "agent": "explore"},
            {"objective": "hang", "agent": "explore"},
            {"objective": "write two"},
        ),
        say(text="All are back."),
    ],
    "write one": [say(make("one.txt"), first_delay=0.4), say(finish("made one"))],
    "write two": [say(make("two.txt"), chunk_delay=0.02), say(finish("made two"), first_delay=0.3)],
    "fail": [say(text="I looked.", chunk_delay=0.01), say(finish("it is not there", ok=False))],
    "hang": [say(text="I begin and never end", stall_after=3)],
}


@needs_tmux
def test_four_at_once_one_fails_one_is_stopped_two_ask(program: Program) -> None:
    command = f"{PROGRAM} --model {MODEL}"
    with OpenAIServer(branching(FOUR)) as server:
        place = f"{command} --api-base {server.url}"
        with Tmux(place, program.project, program.environment, 120, 36) as tmux:
            tmux.shows(r"ASK  .*gpt-4o-mini")
            tmux.type("go")
            tmux.keys("Enter")
            tmux.shows(r"Allow write\?[\s\S]*ready")
            tmux.keys("F8")
            waiting = tmux.shows(r"─ 2 waiting[\s\S]*ready")
            assert "general 1" in waiting and "general 2" in waiting
            tmux.keys("a")
            tmux.shows(r"2 marked")
            tmux.keys("C-y")
            tmux.shows(r"Allow these 2 requests once\?[\s\S]*ready")
            tmux.keys("C-y")
            tmux.shows(r"✓ general 1 ok +made one[\s\S]*✓ general 2 ok +made two")
            tmux.keys("M-s")
            tmux.shows(r"Sub-agents[\s\S]*running")
            tmux.keys("x")
            tmux.shows("■ stopped +explore 2")
            tmux.keys("Escape")
            # The list is gone, and the turn has ended: a key right behind Escape would be Alt with that key.
            shown = tmux.shows(r"\A(?![\s\S]*Enter read)[\s\S]*All are back[\s\S]*tok  \$0\.00 +\^P")
            order = [
                shown.index(words) for words in ("made one", "it is not there", "Stopped by", "made two")
            ]
            assert order == sorted(order)
            tmux.keys("C-d")
            tmux.shows("exit code 0")
        assert server.disconnects  # the stream that would never end was left
    assert received(server, "go") == [
        {
            "ok": False,
            "results": [
                {"agent": "general", "ok": True, "summary": "made one"},
                {"agent": "explore", "ok": False, "summary": "it is not there"},
                {"agent": "explore", "ok": False, "summary": STOPPED_BY_USER},
                {"agent": "general", "ok": True, "summary": "made two"},
            ],
        }
    ]
    assert {path.name for path in program.project.iterdir()} == {"one.txt", "two.txt"}
    # The bill of the reply that was stopped in its middle never came: it counts like the one before it.
    assert cost_in_store(program) == pytest.approx(paid(server, FOUR) * PRICE)


def test_without_a_screen_events_are_named_and_a_failure_affects_one_sub_agent(program: Program) -> None:
    script = {
        "go": [
            fork({"objective": "look", "agent": "explore"}, {"objective": "other", "model": "openai/nope"}),
            say(text="Done."),
        ],
        "look": [say(Call("list", {})), say(finish("seen"))],
        "other": [Reply(status=404, error="The model `nope` does not exist", error_code="model_not_found")],
    }
    with OpenAIServer(branching(script)) as server:
        arguments = ("run", "-p", "go", "--model", MODEL, "--api-base", server.url)
        done = program.run(*arguments, "--format", "stream-json")
    lines = json_lines(done.stdout)
    first, second = received(server, "go")[0]["results"]
    assert (done.returncode, first) == (0, {"agent": "explore", "ok": True, "summary": "seen"}), done.stderr
    assert second["ok"] is False
    assert "nope" in second["summary"]
    wrapped = [line for line in lines if line["type"] == "subagent_event"]
    assert {(line["agent"], line["parent_call_id"]) for line in wrapped} == {
        ("explore", wrapped[0]["parent_call_id"]),
        ("general", wrapped[0]["parent_call_id"]),
    }
    ends = {
        line["agent"]: line["event"]["state"]
        for line in wrapped
        if "summary" in line["event"] and "state" in line["event"]
    }
    assert ends == {"explore": "ok", "general": "failed"}
    assert lines[-1]["usage"]["cost"] == pytest.approx((paid(server, script) - 1) * PRICE)


def test_a_sub_agent_has_no_more_permissions_than_its_parent(program: Program) -> None:
    script = {
        "go": [
            say(Call("task", {"agent": "general", "objective": "change it"})),
            say(text="It was refused."),
        ],
        "change it": [
            say(make("a.txt")),
            say(Call("bash", {"command": "touch b"})),
            say(finish("no", ok=False)),
        ],
    }
    with OpenAIServer(branching(script)) as server:
        arguments = ("run", "-p", "go", "--model", MODEL, "--api-base", server.url, "--permission", "plan")
        done = program.run(*arguments)
    assert done.returncode == 0, done.stderr
    denied = [result["error"] for result in received(server, "change it")]
    assert [error["type"] for error in denied] == ["permission_denied", "permission_denied"]
    assert received(server, "go") == [{"ok": False, "agent": "general", "summary": "no"}]
    assert "⊘ general: write  a.txt" in done.stderr
    assert list(program.project.iterdir()) == []


def test_an_interruption_ends_the_tree_and_its_commands(program: Program) -> None:
    script = {
        "go": [fork({"objective": "hang"}, {"objective": "sleep"})],
        "hang": [say(text="I begin and never end", stall_after=2)],
        "sleep": [say(Call("bash", {"command": MARKER}))],
    }
    with OpenAIServer(branching(script)) as server:
        arguments = ("run", "-p", "go", "--model", MODEL, "--api-base", server.url, "--permission", "auto")
        started = program.start(*arguments, "--format", "json", **COMMANDS_RUN)
        until(lambda: bool(running(MARKER)))
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=60)
    assert started.returncode == 130, err
    assert json_lines(out)[-1]["outcome"] == "interrupted"
    assert running(MARKER) == []


def test_after_a_kill_sub_agents_are_reported_as_stopped_and_the_session_continues(program: Program) -> None:
    script = {
        "go": [fork({"objective": "look", "agent": "explore"}, {"objective": "hang"})],
        "look": [say(finish("seen"))],
        "hang": [say(Call("list", {})), say(text="I begin and never end", stall_after=2)],
    }
    with OpenAIServer(branching(script)) as server:
        model = ("--model", MODEL, "--api-base", server.url)
        started = program.start("run", "-p", "go", *model)
        until(lambda: asked(server, "hang") == 2 and ("explore", "ok") in states(program))
        started.send_signal(signal.SIGKILL)
        started.communicate()
        done = program.run("run", "-p", "go on", "--continue", *model)
    assert done.returncode == 0, done.stderr
    (result,) = received(server, "go")
    assert result["error"]["type"] == "cancelled"
    assert states(program) == [("explore", "ok"), ("general", "stopped")]
