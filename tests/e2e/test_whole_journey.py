"""A whole task at 80×24 by keyboard, from the first question to a redo after a resume."""

from pathlib import Path

import pytest

from tests.e2e.test_journey import (
    NEW,
    OLD,
    QUESTIONS,
    TERMINALS,
    answer_questions,
    approve_the_plan,
    last_words,
    plan_about_a_file,
    refuse_a_hunk,
)
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import PLAIN, Program
from tests.fakes.script import Call, Reply
from tests.fakes.tmux import Tmux, needs_tmux

pytestmark = needs_tmux
CHECK = "if grep -n sixty src/total.py; then echo FAILED: the total is no number; exit 1; fi\n"
KEPT = {"check.sh": CHECK, "src/numbers.txt": OLD.replace("line 3\n", "third\n")}
"""After a refused hunk and a rejected one."""
AT_THE_END = KEPT | {"src/total.py": "TOTAL = 60\n"}
CREATE = Call("create_file", {"path": "src/total.py", "content": "TOTAL = sixty\n"})
FIX = Call("edit", {"path": "src/total.py", "old_string": "sixty", "new_string": "60"})


@pytest.fixture
def program(tmp_path: Path) -> Program:
    made = Program.in_folder(tmp_path)
    (made.project / "src").mkdir()
    (made.project / "src/numbers.txt").write_text(OLD)
    (made.project / "check.sh").write_text(CHECK)
    return made


def test_a_task_from_its_plan_to_a_redo_after_a_resume(program: Program) -> None:
    script = [
        Reply(calls=(Call("question", {"questions": QUESTIONS}),)),
        Reply(calls=(Call("plan_exit", {"plan": "# Spell it\n\n1. write the words"}),)),
        Reply(calls=(Call("write", {"path": "src/numbers.txt", "content": NEW}),)),
        Reply(text="Changed."),
        Reply(calls=(CREATE,)),
        Reply(text="The total has a place now."),
        Reply(calls=(FIX,)),
        Reply(text="Now it is a number."),
    ]
    with OpenAIServer(script) as server:
        command = f"'{PLAIN}' --model openai/x --api-base {server.url}"
        with Tmux(command, program.project, program.environment, 80, 24) as tmux:
            tmux.shows("ASK  x")
            check_with(tmux, "sh check.sh")
            plan_about_a_file(tmux, TERMINALS["default"])
            answer_questions(tmux)
            approve_the_plan(tmux)
            refuse_a_hunk(tmux)
            reject_with_a_comment(tmux)
            fix_what_the_check_found(tmux)
            assert contents(program) == AT_THE_END
            take_back(tmux)
            assert contents(program) == KEPT
            tmux.keys("C-c")
            tmux.keys("C-d")
            tmux.shows(r"last check passed: sh check.sh[\s\S]*--resume \w+[\s\S]*exit code 0")
        with Tmux(f"{command} --continue", program.project, program.environment, 80, 24) as tmux:
            make_again(tmux)
            assert contents(program) == AT_THE_END
            tmux.keys("C-d")
            tmux.shows("exit code 0")
        received = last_words(server.requests[6])
        reviewed = last_words(server.requests[4])
    assert "My comment: too early" in reviewed
    assert "1:TOTAL = sixty" in received and "FAILED: the total is no number" in received


def contents(program: Program) -> dict[str, str]:
    files = (path for path in program.project.rglob("*") if path.is_file())
    return {str(path.relative_to(program.project)): path.read_text() for path in files}


def check_with(tmux: Tmux, command: str) -> None:
    tmux.type(f"/verify on {command}")
    tmux.keys("Enter")
    tmux.shows("sh check.sh` runs after turns")


def reject_with_a_comment(tmux: Tmux) -> None:
    tmux.keys("F3", "F3")
    tmux.shows(r"Review turn 1   1 file  2 hunks   ✓0 ✗0 ○2")
    tmux.keys("y", "c")
    tmux.shows("save comment")
    tmux.type("too early")
    tmux.keys("Enter")
    tmux.shows("you: too early")
    tmux.keys("n")
    tmux.shows("✓1 ✗1 ○0")
    tmux.keys("Enter")


def fix_what_the_check_found(tmux: Tmux) -> None:
    """The agent tries again, the check fails, and the agent hears of it."""
    tmux.shows(r"TOTAL = sixty[\s\S]*ready")
    tmux.keys("C-y")
    tmux.shows(r"TOTAL = 60[\s\S]*ready")
    tmux.keys("C-y")
    tmux.finishes(r"Now it is a number\.[\s\S]*✓ +verify")


def take_back(tmux: Tmux) -> None:
    tmux.type("/undo")
    tmux.keys("Enter")
    tmux.shows(r"Undone: turn 2, messages and 1 file")


def make_again(tmux: Tmux) -> None:
    tmux.shows(r"Changed\.[\s\S]*ASK  x")
    tmux.type("/redo")
    tmux.keys("Enter")
    tmux.shows(r"Now it is a number\.[\s\S]*Redone: turn 2")
