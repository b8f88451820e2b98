"""Approvals and trust in a real terminal: the user's own editor, and a project that asks for trust."""

import os
import signal
from pathlib import Path

import pytest

from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import PLAIN, Program
from tests.fakes.python_program import write_program
from tests.fakes.script import Call, Reply
from tests.fakes.tmux import Tmux, needs_tmux

pytestmark = needs_tmux
COMMAND = "touch proposed"


def editor(folder: Path, body: str) -> str:
    """A program that shows a line, waits for a key, and then edits."""
    code = (
        "import pathlib, sys, termios, tty\n"
        "file = pathlib.Path(sys.argv[-1])\n"
        "print('EDITING', file.read_text(), flush=True)\n"
        "tty.setcbreak(0)\n"
        "sys.stdin.read(1)\n"
        f"{body}\n"
    )
    return str(write_program(folder / "my-editor", code))


def started(program: Program, server: OpenAIServer, editor: str = "") -> Tmux:
    environment = program.environment | {"EDITOR": editor}
    command = f"'{PLAIN}' --model openai/x --api-base {server.url}"
    return Tmux(command, program.project, environment, 100, 30)


def edited_files(program: Program) -> list[Path]:
    """The texts that were given to an editor and are still there."""
    cache = program.home / ".cache/coder-tui"
    assert cache.is_dir()
    return list(cache.glob("edits/*"))


def ask(tmux: Tmux) -> None:
    tmux.shows(r"ASK  (openai/)?x")
    tmux.type("do it")
    tmux.keys("Enter")
    tmux.shows(r"Run this command\?[\s\S]*touch proposed[\s\S]*ready")
    tmux.keys("e")
    tmux.shows("EDITING touch proposed")


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program.in_folder(tmp_path)


def test_what_was_saved_in_the_editor_runs_and_no_file_stays(program: Program) -> None:
    script = [Reply(calls=(Call("bash", {"command": COMMAND}),)), Reply(text="Finished.")]
    change = "file.write_text('touch edited\\n')"
    with OpenAIServer(script) as server, started(program, server, editor(program.home, change)) as tmux:
        ask(tmux)
        tmux.keys("x")
        tmux.shows("Finished")
    assert sorted(path.name for path in program.project.iterdir()) == ["edited"]
    assert edited_files(program) == []


def test_a_failing_editor_returns_to_the_dialog_on_an_intact_screen(program: Program) -> None:
    script = [Reply(calls=(Call("bash", {"command": COMMAND}),)), Reply(text="Finished.")]
    with (
        OpenAIServer(script) as server,
        started(program, server, editor(program.home, "sys.exit(3)")) as tmux,
    ):
        ask(tmux)
        # Ctrl+C is the editor's, and what is typed as it closes answers nothing.
        tmux.keys("x", "C-y")
        screen = tmux.shows(r"The editor ended with code 3[\s\S]*ready")
        assert "EDITING" not in screen
        assert list(program.project.iterdir()) == []
        tmux.keys("C-y")
        tmux.shows("Finished")
    assert sorted(path.name for path in program.project.iterdir()) == ["proposed"]


def test_ctrl_c_in_the_editor_ends_the_editor_alone(program: Program) -> None:
    script = [Reply(calls=(Call("bash", {"command": COMMAND}),)), Reply(text="Finished.")]
    with OpenAIServer(script) as server, started(program, server, editor(program.home, "")) as tmux:
        ask(tmux)
        tmux.keys("C-c")
        tmux.shows(r"The editor ended with code[\s\S]*ready")
        tmux.keys("n")
        tmux.shows("Finished")


def test_a_terminated_program_ends_the_editor_first(program: Program) -> None:
    script = [Reply(calls=(Call("bash", {"command": COMMAND}),))]
    editor_path = editor(program.home, "")
    note = "import os\npathlib.Path(sys.argv[0] + '.pid').write_text(str(os.getppid()))\n"
    text = Path(editor_path).read_text()
    Path(editor_path).write_text(text.replace("print(", f"{note}print(", 1))
    with OpenAIServer(script) as server, started(program, server, editor_path) as tmux:
        ask(tmux)
        os.kill(int(Path(f"{editor_path}.pid").read_text()), signal.SIGTERM)
        tmux.shows(r"coder-tui --resume \w+[\s\S]*exit code 143")
    assert edited_files(program) == []


def test_a_project_is_trusted_by_the_chord_and_not_asked_about_again(program: Program) -> None:
    folder = program.project / ".coder-tui"
    folder.mkdir()
    (folder / "config.toml").write_text('[permission.bash]\n"touch *" = "allow"\n')
    script = [Reply(calls=(Call("bash", {"command": COMMAND}),)), Reply(text="Finished.")]
    with OpenAIServer(script) as server:
        with started(program, server) as tmux:
            screen = tmux.shows(r"Trust this project\?[\s\S]*ready")
            assert "touch *" in screen
            tmux.keys("Escape")
            tmux.shows(r"ASK  (openai/)?x")
            tmux.keys("C-d")
            tmux.shows("exit code 0")
        with started(program, server) as tmux:
            tmux.shows(r"Trust this project\?[\s\S]*ready")
            tmux.keys("C-y")
            tmux.shows(r"ASK  (openai/)?x")
            tmux.keys("C-d")
            tmux.shows("exit code 0")
        with started(program, server) as tmux:
            assert "Trust this" not in tmux.shows(r"ASK  (openai/)?x")
