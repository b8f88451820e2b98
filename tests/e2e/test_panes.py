"""The panes next to the conversation in a real terminal, with real changes."""

from pathlib import Path

from tests.fakes.program import PROGRAM, Program
from tests.fakes.tmux import Tmux, needs_tmux

pytestmark = needs_tmux


def test_the_demo_fills_the_panes_and_they_follow_the_size_of_the_terminal(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    with Tmux(f"{PROGRAM} demo", program.project, program.environment, 140, 40) as tmux:
        tmux.shows("say anything to start")
        tmux.type("show me")
        tmux.keys("Enter")
        for request in "Run this command", "Allow edit", "Run this command":
            tmux.shows(rf"{request}\?[\s\S]*ready")
            tmux.keys("C-y")
        wide = tmux.shows(r"changes 1 ─[\s\S]*M cart.py\s+\+1 -1[\s\S]*That is all")
        assert "+     if pieces >= 10:" in wide
        assert "chat — show me" in wide
        tmux.shows("todo 4/4")
        tmux.resize(110, 30)
        tmux.shows(r"│─ changes 1 ─{19,}\n")
        tmux.resize(80, 24)
        tmux.shows(r"chat │ changes 1 │ todo 4/4\s+F2–F5 switch")
        tmux.keys("F3")
        tmux.shows(r"─ changes 1 ─+\n▌M cart.py\s+\+1 -1[\s\S]*13 \+     if pieces >= 10:")
        tmux.keys("F4")
        tmux.shows(r"✓ Run the tests again")
        tmux.type("kept")
        tmux.keys("F2")
        tmux.shows(r"coder-tui doctor[\s\S]*❯ kept")
        tmux.resize(140, 40)
        assert "changes 1" in tmux.shows("chat — show me")
