"""A change in a real terminal of 80×24: one hunk refused in the approval, one rejected in the review."""

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import PROGRAM, Program
from tests.fakes.script import Call, Reply
from tests.fakes.tmux import Tmux, needs_tmux

pytestmark = needs_tmux
OLD = "".join(f"line {n}\n" for n in range(1, 61))
NEW = OLD.replace("line 3\n", "third\n").replace("line 30\n", "").replace("line 55\n", "@a.txt\n")


@pytest.fixture
def program(tmp_path: Path) -> Program:
    made = Program.in_folder(tmp_path)
    (made.project / "a.txt").write_text(OLD)
    return made


def test_a_hunk_is_refused_another_rejected_and_the_agent_learns_of_both(program: Program) -> None:
    file = program.project / "a.txt"
    script = [
        Reply(calls=(Call("read", {"path": "a.txt"}),)),
        Reply(calls=(Call("write", {"path": "a.txt", "content": NEW}),)),
        Reply(text="Changed."),
        Reply(text="Understood."),
    ]
    command = f"{PROGRAM} --model openai/x --api-base "
    with OpenAIServer(script) as server:
        with Tmux(command + server.url, program.project, program.environment, 80, 24) as tmux:
            tmux.shows(r"ASK  (openai/)?x")
            tmux.type("change it")
            tmux.keys("Enter")
            tmux.shows(r"Allow write\?[\s\S]*ready")
            tmux.keys("]", "x")
            tmux.shows(r"1 of 3 hunks refused .*ready")
            tmux.keys("End")
            tmux.shows(r"rule  default[\s\S]*1 of 3 hunks refused  ready")
            tmux.keys("C-y")
            tmux.shows("Changed.")
            assert file.read_text() == NEW.replace("line 29\n", "line 29\nline 30\n")
            review(tmux)
        requests = server.requests
    assert file.read_text() == OLD.replace("line 55\n", "@a.txt\n")
    received, sent = last_words(requests[2]), last_words(requests[-1])
    assert (
        "refused_hunks" in received and "-line 30" in received and "The user refused 1 of 3 hunks" in received
    )
    assert sent.startswith("I reviewed your changes.")
    assert "a.txt, line 3\n```diff\n" in sent and "My comment: digits please" in sent
    assert sent.count("line 10") == 0, "nothing that the diff quotes is attached"


def last_words(request: dict[str, Any]) -> str:
    return str(request["messages"][-1]["content"])


def review(tmux: Tmux) -> None:
    """Reject the first hunk with words, keep the other, send; a look at the chat in between loses nothing."""
    tmux.type("/review")
    tmux.keys("Enter")
    tmux.shows(r"Review turn 1   1 file  2 hunks   ✓0 ✗0 ○2")
    tmux.keys("n")
    tmux.shows("✓0 ✗1 ○1")
    tmux.keys("q")
    tmux.shows("Changed.")
    tmux.keys("Tab", "r")
    tmux.shows(r"Review turn 1 [\s\S]*✓0 ✗1 ○1")
    tmux.keys("[", "[", "c")
    tmux.type("digits please")
    tmux.keys("Enter")
    tmux.shows("you: digits please")
    tmux.keys("]", "y")
    tmux.shows("✓1 ✗1 ○0")
    tmux.keys("Enter")
    tmux.shows("Understood.")
