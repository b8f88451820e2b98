"""The mouse can be given to the terminal and back to the program while it runs."""

from pathlib import Path

from tests.fakes.program import PROGRAM, Program
from tests.fakes.tmux import Tmux, needs_tmux

pytestmark = needs_tmux


def turned(tmux: Tmux, words: str) -> str:
    """Whether the terminal is asked to report the mouse, after the command."""
    tmux.type("/mouse")
    tmux.keys("Enter")
    tmux.shows(words)
    return tmux.ask("display-message", "-p", "#{mouse_any_flag}")


def test_a_command_gives_the_mouse_to_the_terminal_and_back(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    with Tmux(f"{PROGRAM} demo", program.project, program.environment) as tmux:
        tmux.shows("say anything to start")
        assert tmux.ask("display-message", "-p", "#{mouse_any_flag}") == "1"
        assert turned(tmux, "The terminal has the mouse now") == "0"
        assert turned(tmux, "The program has the mouse again") == "1"


def test_a_program_that_was_started_without_it_can_take_it(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    with Tmux(f"{PROGRAM} demo --no-mouse", program.project, program.environment) as tmux:
        tmux.shows("say anything to start")
        assert tmux.ask("display-message", "-p", "#{mouse_any_flag}") == "0"
        assert turned(tmux, "The program has the mouse again") == "1"
