"""A whole task by keyboard at 80×24, in common terminals, with a model over real HTTP."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import PROGRAM, Program
from tests.fakes.script import Call, Reply
from tests.fakes.tmux import Tmux, needs_tmux

pytestmark = needs_tmux
OLD = "".join(f"line {n}\n" for n in range(1, 61))
NEW = OLD.replace("line 3\n", "third\n").replace("line 30\n", "thirty\n").replace("line 55\n", "last\n")


QUESTIONS = [
    {"question": "Which numbers?", "options": [{"label": "all"}, {"label": "some"}]},
    {"question": "Upper case?", "options": [{"label": "yes"}, {"label": "no"}]},
    {
        "question": "Which checks?",
        "options": [{"label": "length"}, {"label": "order"}, {"label": "words"}],
        "multi": True,
    },
]
ANSWERS = (
    "1. Which numbers?\n   in their own words: only 3 and 30\n2. Upper case?\n   no\n"
    "3. Which checks?\n   length, words"
)


@dataclass(frozen=True, slots=True)
class Terminal:
    """How a terminal is set up, and which key begins a new line there."""

    options: tuple[tuple[str, ...], ...]
    newline: str
    mode: str


TERMINALS = {
    "default": Terminal((), "C-j", "BTab"),
    # Keys with modifiers come as `CSI u`.
    "extended": Terminal((("-s", "extended-keys", "always"),), "S-Enter", "S-Tab"),
    "screen": Terminal((("-g", "default-terminal", "screen"),), "C-j", "BTab"),
}


@pytest.fixture
def program(tmp_path: Path) -> Program:
    made = Program.in_folder(tmp_path)
    (made.project / "src").mkdir()
    (made.project / "src/numbers.txt").write_text(OLD)
    return made


def last_words(request: dict[str, Any]) -> str:
    return str(request["messages"][-1]["content"])


@pytest.mark.parametrize("terminal", TERMINALS.values(), ids=list(TERMINALS))
def test_a_task_from_a_question_to_a_review_that_the_agent_receives(
    program: Program, terminal: Terminal
) -> None:
    script = [
        Reply(calls=(Call("question", {"questions": QUESTIONS}),)),
        Reply(calls=(Call("plan_exit", {"plan": "# Spell it\n\n1. write the words"}),)),
        Reply(calls=(Call("write", {"path": "src/numbers.txt", "content": NEW}),)),
        Reply(text="Changed."),
        Reply(text="Understood."),
    ]
    with OpenAIServer(script) as server:
        command = f"{PROGRAM} --model openai/x --api-base {server.url}"
        with Tmux(command, program.project, program.environment, 80, 24, terminal.options) as tmux:
            tmux.shows("ASK  x")
            plan_about_a_file(tmux, terminal)
            answer_questions(tmux)
            approve_the_plan(tmux)
            refuse_a_hunk(tmux)
            review_with_a_comment(tmux)
            tmux.keys("C-d")
            tmux.shows(r"--resume \w+[\s\S]*exit code 0")
        asked, answered, approved, received, reviewed = map(last_words, server.requests)
    assert asked.startswith("spell @src/numbers.txt\nas words")
    assert f'<attached name="src/numbers.txt">\n{OLD}</attached>' in asked
    assert json.loads(answered)["answers"] == ANSWERS
    assert json.loads(approved)["approved"] is True
    assert "The user refused 1 of 3 hunks" in received and "-line 30" in received
    assert reviewed.startswith("I reviewed your changes.")
    assert "-line 55\n+last" in reviewed and "My comment: too early" in reviewed
    assert (program.project / "src/numbers.txt").read_text() == OLD.replace("line 3\n", "third\n")


def plan_about_a_file(tmux: Tmux, terminal: Terminal) -> None:
    tmux.keys(terminal.mode)
    tmux.shows("EDITS +x")
    tmux.keys(terminal.mode)
    tmux.shows("PLAN +x")
    tmux.type("spell @numb")
    tmux.shows(r"❯ src/numbers\.txt")
    tmux.keys("Tab", "BSpace", terminal.newline)
    tmux.type("as words")
    tmux.shows(r"❯ spell @src/numbers\.txt\s*\n\W+as words")
    tmux.keys("Enter")


def answer_questions(tmux: Tmux) -> None:
    """One in words of one's own, one by a digit, one with two of its options; then a look at all of them."""
    tmux.shows(r"1 \( \) all \(Recommended\)[\s\S]*ready")
    tmux.keys("3")
    tmux.shows("in your own words")
    tmux.type("only 3 and 30")
    tmux.keys("Enter")
    tmux.shows(r"1 \( \) yes[\s\S]*ready")
    tmux.keys("2")
    tmux.shows(r"2 \(\S\) no")
    tmux.keys("Enter")
    tmux.shows(r"1 \[ \] length[\s\S]*ready")
    tmux.keys("Space")
    tmux.shows(r"1 \[\S\] length")
    tmux.keys("Down", "Down", "Space")
    tmux.shows(r"3 \[\S\] words")
    tmux.keys("Right")
    tmux.shows(r"only 3 and 30[\s\S]*✓ no[\s\S]*✓ length[\s\S]*✓ words[\s\S]*ready")
    tmux.keys("Enter")


def approve_the_plan(tmux: Tmux) -> None:
    tmux.shows(r"write the words[\s\S]*ready")
    tmux.keys("C-y")


def refuse_a_hunk(tmux: Tmux) -> None:
    tmux.shows(r"Allow write\?[\s\S]*ready")
    tmux.keys("]", "x")
    tmux.shows(r"1 of 3 hunks refused .*ready")
    tmux.keys("End")
    tmux.shows(r"rule  default[\s\S]*1 of 3 hunks refused  ready")
    tmux.keys("C-y")
    tmux.shows(r"Changed\.")


def review_with_a_comment(tmux: Tmux) -> None:
    """Keep the first hunk, reject the second and say why."""
    tmux.keys("F3")
    tmux.shows(r"─ changes 1 ─+\n▌M src/numbers\.txt")
    tmux.keys("F3")
    tmux.shows(r"Review turn 1   1 file  2 hunks   ✓0 ✗0 ○2")
    tmux.keys("y", "c")
    tmux.shows("save comment")
    tmux.type("too early")
    tmux.keys("Enter")
    tmux.shows("you: too early")
    tmux.keys("n")
    tmux.shows("✓1 ✗1 ○0")
    tmux.keys("Enter")
    tmux.shows(r"Understood\.")
