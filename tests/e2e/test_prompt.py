"""Writing a message in a real terminal at 80×24: the model gets what was mentioned, pasted and shared."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import PROGRAM, Program
from tests.fakes.script import Reply
from tests.fakes.tmux import Tmux, needs_tmux

pytestmark = needs_tmux


def said(request: dict[str, Any]) -> str:
    """The last thing that the user said, as the model got it."""
    return str([message for message in request["messages"] if message["role"] == "user"][-1]["content"])


@pytest.fixture
def program(tmp_path: Path) -> Program:
    made = Program.in_folder(tmp_path)
    (made.project / "src").mkdir()
    (made.project / "src/calc.py").write_text("one\ntwo\nthree\n")
    (tmp_path / "pasted.txt").write_text("".join(f"pasted {n}\n" for n in range(50)))
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "written elsewhere" >> "$1"\n')
    editor.chmod(0o755)
    return made


@contextmanager
def session(program: Program, *replies: str) -> Iterator[tuple[Tmux, OpenAIServer]]:
    command = f"env EDITOR={program.home.parent}/editor {PROGRAM} --model openai/x --api-base"
    with (
        OpenAIServer([Reply(text=text) for text in replies]) as server,
        Tmux(f"{command} {server.url}", program.project, program.environment, 80, 24) as tmux,
    ):
        tmux.shows("ASK  x")
        yield tmux, server


def test_a_message_is_sent_with_a_range_a_paste_and_text_from_the_editor(program: Program) -> None:
    with session(program, "Seen.") as (tmux, server):
        tmux.type("compare @cal")
        tmux.shows(r"❯ src/calc\.py")
        tmux.keys("Tab")
        tmux.keys("BSpace")
        tmux.type(":2-3 ")
        tmux.ask("load-buffer", str(program.home.parent / "pasted.txt"))
        tmux.ask("paste-buffer", "-p")
        tmux.shows(r"compare @src/calc\.py:2-3 \[pasted 50 lines\]")
        tmux.keys("C-g")
        tmux.shows("written elsewhere")
        tmux.keys("Enter")
        tmux.shows("Seen")
        first = said(server.requests[-1])
        assert first.startswith("compare @src/calc.py:2-3 pasted 0\npasted 1\n")
        assert "written elsewhere" in first
        assert first.endswith('<attached name="src/calc.py:2-3">\ntwo\nthree\n</attached>')


def test_the_model_sees_only_shared_output_of_the_users_commands(program: Program) -> None:
    with session(program, "Seen.") as (tmux, server):
        tmux.type("!echo for me")
        tmux.keys("Enter")
        tmux.shows("✓ you  echo for me")
        tmux.type("!!echo for both")
        tmux.keys("Enter")
        tmux.shows("✓ you  echo for both")
        tmux.type("and now?")
        tmux.keys("Enter")
        tmux.shows("Seen")
        assert said(server.requests[-1]) == (
            'and now?\n\n<attached name="$ echo for both">\nfor both\n(exit code 0)\n</attached>'
        )
        assert "for me" not in str(server.requests[-1])


def test_earlier_messages_and_commands_are_found(program: Program) -> None:
    with session(program, "Seen.") as (tmux, _):
        tmux.type("an earlier message")
        tmux.keys("Enter")
        tmux.shows("Seen")
        tmux.keys("C-r")
        tmux.type("earl")
        tmux.shows(r"❯ an earlier message[\s\S]*❯ earl\b")
        tmux.keys("Escape")
        tmux.shows("❯ Ask, or describe")  # what follows Esc too closely is read as Alt and a letter
        tmux.type("/ren")
        tmux.shows("/rename TITLE +Give this session a title")
        tmux.keys("Tab")
        tmux.type("my title")
        tmux.keys("Enter")
        tmux.shows("This session is now called “my title”")
        tmux.type("/mod plan")
        tmux.keys("Enter")
        tmux.shows(r"There is no command /mod\. Did you mean /mode")
        tmux.keys("C-c")
        tmux.type("/quit")
        tmux.keys("Enter")
        tmux.shows("exit code 0")


def test_a_paste_of_ten_megabytes_is_a_chip_and_the_next_key_shows(program: Program) -> None:
    pasted = program.home.parent / "long.txt"
    pasted.write_text("word and word\n" * 750_000)
    with Tmux(f"{PROGRAM} demo", program.project, program.environment, 80, 24) as tmux:
        tmux.shows("say anything to start")
        tmux.ask("load-buffer", str(pasted))
        tmux.ask("paste-buffer", "-p")
        tmux.type("then")
        tmux.shows(r"\[pasted 10\.5 MB\]then")
        tmux.keys("Enter")
        tmux.shows("too long for a message")
