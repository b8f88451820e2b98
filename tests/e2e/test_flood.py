"""Bad input in a real terminal: it is reported, does no harm, and the screen still responds to keys."""

import subprocess
from pathlib import Path

import pytest

from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import PROGRAM, Program
from tests.fakes.script import Call, Reply
from tests.fakes.tmux import Tmux, needs_tmux

pytestmark = needs_tmux
HOSTILE = r"""
import sys
print('\x1b]0;TAKEN\x07\x1b]52;c;VEFLRU4=\x07\x1b[2J\x1b[H\x1b[?1049l', end='')
print('[@click=app.quit]press[/] [/b] \u202eabc\u202c \x9b31m')
print('word ' * 800_000)
print('the end of it')
"""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program.in_folder(tmp_path)


def terminal(program: Program, server: OpenAIServer) -> Tmux:
    command = f"{PROGRAM} --model openai/x --api-base {server.url}"
    return Tmux(command, program.project, program.environment, 100, 30)


def test_escape_sequences_in_output_are_shown_and_not_executed(program: Program) -> None:
    (program.project / "evil.py").write_text(HOSTILE)
    script = [Reply(calls=(Call("bash", {"command": "python3 evil.py; false"}),)), Reply(text="Survived.")]
    with OpenAIServer(script) as server, terminal(program, server) as tmux:
        tmux.ask("set-option", "-s", "set-clipboard", "on")
        tmux.shows(r"ASK +(openai/)?x")
        tmux.type("go")
        tmux.keys("Enter")
        tmux.shows(r"Run this command\?[\s\S]*ready")
        tmux.keys("C-y")
        screen = tmux.shows(r"the end of it[\s\S]*Survived\.")
        assert "TAKEN" not in tmux.ask("display-message", "-p", "#{pane_title}")
        with pytest.raises(subprocess.CalledProcessError):
            tmux.ask("show-buffer")
        assert "more" in screen
        tmux.type("still here")
        tmux.shows("❯ still here")
        tmux.keys("C-c", "Tab", "k", "v")
        whole = tmux.shows(r"\[@click=app\.quit\]press\[/\] \[/b\] <U\+202E>abc")
        assert "word word word" in whole


def test_a_reply_with_a_thousand_calls_can_be_stopped_and_refused(program: Program) -> None:
    calls = tuple(Call("bash", {"command": f"touch file{number}"}) for number in range(1000))
    script = [Reply(calls=calls, argument_piece=200), Reply(text="Never said.")]
    with OpenAIServer(script) as server, terminal(program, server) as tmux:
        tmux.shows(r"ASK +(openai/)?x")
        tmux.type("go")
        tmux.keys("Enter")
        tmux.shows(r"Run this command\?[\s\S]*touch file0[\s\S]*ready")
        tmux.keys("C-y")
        tmux.shows(r"touch file1\s[\s\S]*ready")
        tmux.keys("Escape")
        tmux.shows(r"stopped by you|cancelled|not run")
        tmux.type("still here")
        tmux.shows("❯ still here")
    assert [path.name for path in program.project.iterdir()] == ["file0"]


def test_mistakes_in_settings_and_themes_are_reported_on_a_working_screen(program: Program) -> None:
    folder = program.home / ".config/coder-tui"
    (folder / "themes").mkdir(parents=True)
    (folder / "themes/broken.toml").write_text('name = "broken"\n[colors]\nprimary = "no colour"\n')
    (folder / "themes/garbage.toml").write_text("= = =")
    (folder / "config.toml").write_text(
        '[ui]\ntheme = "broken"\n'
        '[ui.keys]\n"app.help" = "ctrl+p"\n"app.palette" = "f9"\n"session.todo" = "f9"\n'
    )
    with Tmux(f"{PROGRAM} demo", program.project, program.environment, 140, 40) as tmux:
        screen = tmux.shows(
            r"garbage\.toml[\s\S]*There is no theme broken|There is no theme broken[\s\S]*garbage"
        )
        assert "broken.toml" in screen
        assert "is already used by" in screen
        tmux.type("works")
        tmux.shows("❯ works")
