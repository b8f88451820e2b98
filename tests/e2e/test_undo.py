"""Undo and redo of turns in a real terminal: edits and commands, also after a resume."""

from pathlib import Path

import pytest

from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import PROGRAM, Program
from tests.fakes.script import Call, Reply
from tests.fakes.tmux import Tmux, needs_tmux
from tests.workspace.trees import tree_of

pytestmark = needs_tmux
EDIT = Call("edit", {"path": "a.txt", "old_string": "one", "new_string": "two"})
COMMAND = Call("bash", {"command": "mkdir out && mv b.txt out/ && echo more >> a.txt"})


@pytest.fixture
def program(tmp_path: Path) -> Program:
    made = Program.in_folder(tmp_path)
    (made.project / "a.txt").write_text("one\n")
    (made.project / "b.txt").write_text("bee\n")
    return made


def test_a_turn_is_undone_redone_and_undone_after_a_resume(program: Program) -> None:
    project = program.project
    script = [Reply(calls=(EDIT,)), Reply(calls=(COMMAND,)), Reply(text="All done.")]
    before = tree_of(project)
    with OpenAIServer(script) as server:
        command = f"{PROGRAM} --model openai/x --permission edits --api-base {server.url}"
        with Tmux(command, project, program.environment, 100, 30) as tmux:
            tmux.shows(r"EDITS  (openai/)?x")
            say(tmux, "do both")
            tmux.shows(r"Run this command\?[\s\S]*ready")
            tmux.keys("C-y")
            tmux.finishes("All done.")
            after = tree_of(project)
            say(tmux, "/undo")
            tmux.shows(
                r"Undone: turn 1, messages and \d files"
                r"[\s\S]*is in the prompt: Ctrl\+C[\s\S]*❯ do both"
            )
            assert "All done." not in tmux.screen()
            assert tree_of(project) == before
            tmux.keys("C-c")
            say(tmux, "/redo")
            tmux.shows(r"All done\.[\s\S]*Redone: turn 1")
            assert tree_of(project) == after
            tmux.keys("C-d")
            tmux.shows("exit code 0")
        with Tmux(f"{command} --continue", project, program.environment, 100, 30) as tmux:
            tmux.shows(r"All done\.")
            (project / "a.txt").write_text("mine\n")
            say(tmux, "/undo")
            tmux.shows(r"a\.txt was not changed: it has changed since")
    assert tree_of(project) == {**before, "a.txt": ("file", b"mine\n", before["a.txt"][2])}


def say(tmux: Tmux, text: str) -> None:
    tmux.type(text)
    tmux.keys("Enter")
