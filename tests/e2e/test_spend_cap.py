"""A spending limit in the whole program: the screen asks, a run ends with an exit code."""

from pathlib import Path

import pytest

from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import PROGRAM, Program
from tests.fakes.script import Call, Reply, Tokens
from tests.fakes.tmux import Tmux, needs_tmux

MODEL = "openai/gpt-4o-mini"
USED = Tokens(input=1_000_000, output=0)
"""15 cents a call."""
WORK = [Reply(text="", calls=(Call("glob", {"pattern": f"*{n}"}),), usage=USED) for n in range(3)]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program.in_folder(tmp_path)


def test_without_a_screen_the_limit_ends_the_run(program: Program) -> None:
    with OpenAIServer([*WORK, Reply(text="done", usage=USED)]) as server:
        arguments = ("--model", MODEL, "--api-base", server.url, "--max-cost", "0.40", "-p", "go")
        done = program.run("run", *arguments)

    assert (done.returncode, len(server.requests)) == (4, 2)
    *_, stopped, paid = done.stderr.splitlines()
    assert stopped == "coder-tui: Stopped at $0.30: the spend limit is $0.40 (limits.max_cost)."
    assert paid == "coder-tui: $0.3000, 2,000,000 tokens in, 0 out"


@needs_tmux
def test_on_the_screen_the_user_is_asked_and_sees_what_was_spent(program: Program) -> None:
    with OpenAIServer([*WORK, Reply(text="All done now", usage=USED)]) as server:
        command = f"{PROGRAM} --model {MODEL} --api-base {server.url}"
        environment = program.environment | {"CODER_TUI_LIMITS__MAX_COST": "0.40"}
        with Tmux(command, program.project, environment, 80, 24) as tmux:
            tmux.shows("gpt-4o-mini")
            tmux.type("go")
            tmux.keys("Enter")
            tmux.shows(r"has cost \$0.30[\s\S]*Go on, up to \$0.80[\s\S]*ready")
            assert len(server.requests) == 2
            tmux.keys("2", "Enter")
            tmux.shows("All done now")
            tmux.shows(r"limit of this session is \$0.80 now")
            tmux.type("/cost")
            tmux.keys("Enter")
            tmux.shows(r"This session\s+\$0.6000\s+4")
            tmux.shows(r"By turn")
            tmux.keys("q")
            tmux.keys("C-d")
            tmux.shows("exit code 0")
