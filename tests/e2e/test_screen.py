"""The whole program in a real terminal, by keyboard."""

import os
import select
from pathlib import Path

import pytest

from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import PROGRAM, Program
from tests.fakes.script import Call, Reply
from tests.fakes.tmux import PATIENCE, Tmux, needs_tmux

pytestmark = needs_tmux


def terminal(program: Program, *arguments: str, columns: int = 100, rows: int = 30) -> Tmux:
    command = " ".join([PROGRAM, *arguments])
    return Tmux(command, program.project, program.environment, columns, rows)


def test_the_demo_from_start_to_end_at_80_columns(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    with terminal(program, "demo", columns=80, rows=24) as tmux:
        tmux.shows("say anything to start")
        tmux.type("show me")
        tmux.keys("Enter")
        tmux.shows(r"Run this command\?[\s\S]*ready")
        tmux.keys("C-y")
        tmux.shows(r"Allow edit\?[\s\S]*ready")
        tmux.keys("C-y")
        tmux.shows(r"Run this command\?[\s\S]*ready")
        tmux.keys("C-y")
        tmux.shows("That is all")
        tmux.shows(r"tests\s+│ pass")
        tmux.keys("C-d")
        tmux.shows("exit code 0")


WITHOUT_KEYS = f"env -u OPENAI_API_KEY -u ANTHROPIC_API_KEY {PROGRAM}"


def test_without_a_key_one_press_opens_the_demo_which_takes_text(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    with Tmux(WITHOUT_KEYS, program.project, program.environment, 80, 24) as tmux:
        tmux.shows("Welcome to coder-tui")
        tmux.keys("d")
        tmux.shows("say anything to start")
        tmux.type("hello there")
        tmux.shows("hello there")


def test_a_key_that_no_keyring_stores_is_used_for_this_run_and_never_shown(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    with Tmux(WITHOUT_KEYS, program.project, program.environment, 80, 24) as tmux:
        tmux.shows("Welcome to coder-tui")
        tmux.keys("Down", "Enter")
        tmux.type("sk-ant-typed-0123456789")
        tmux.shows("key for Anthropic: •{23}_")
        tmux.keys("Enter")
        screen = tmux.shows("applies to this run only[\\s\\S]*ANTHROPIC_API_KEY[\\s\\S]*claude")
        assert "typed" not in screen
        tmux.keys("C-d")
        tmux.shows("exit code 0")
    files = [path for path in program.home.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if b"typed-0123456789" in path.read_bytes()] == []


def test_a_whole_turn_with_a_real_server(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    (program.project / "a.txt").write_text("one\n")
    edit = Call("edit", {"path": "a.txt", "old_string": "one", "new_string": "two"})
    reads = (Call("read", {"path": "a.txt"}), Call("list", {}))
    script = [
        Reply(text="I will look.", calls=reads),
        Reply(calls=(edit,)),
        Reply(calls=(edit,)),
        Reply(text="Fixed."),
    ]
    with (
        OpenAIServer(script) as server,
        terminal(program, "--model", "openai/x", "--api-base", server.url) as tmux,
    ):
        tmux.shows("ASK  x")
        tmux.type("make it two")
        tmux.keys("Enter")
        tmux.shows(r"Allow edit\?[\s\S]*ready")
        tmux.keys("n")
        tmux.shows(r"⊘ e[\s\S]*Allow edit\?[\s\S]*ready")
        assert (program.project / "a.txt").read_text() == "one\n"
        tmux.keys("C-y")
        tmux.shows("Fixed")
        tmux.keys("C-d")
        tmux.shows(r"--resume \w+")
    assert (program.project / "a.txt").read_text() == "two\n"


@pytest.mark.parametrize("size", [(20, 5), (1, 1)])
def test_a_tiny_terminal_does_not_break_it(tmp_path: Path, size: tuple[int, int]) -> None:
    program = Program.in_folder(tmp_path)
    with terminal(program, "demo", columns=100, rows=30) as tmux:
        tmux.shows("say anything to start")
        tmux.resize(*size)
        tmux.type("x")
        tmux.resize(100, 30)
        tmux.shows("say anything to start")
        tmux.shows("❯ x")


def test_a_dumb_terminal_gets_an_error(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    with Tmux(f"env TERM=dumb {PROGRAM}", program.project, program.environment) as tmux:
        tmux.shows("TERM is 'dumb'")
        tmux.shows("exit code 2")


def test_settings_that_are_wrong_leave_a_clean_terminal(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    (program.home / "c.toml").write_text("[ui]\ntheem = 1\n")
    with terminal(program, "--config", str(program.home / "c.toml")) as tmux:
        tmux.shows(r"c\.toml:2: unknown key")
        tmux.shows("exit code 2")


@pytest.mark.parametrize("is_busy", [False, True])
def test_a_closed_terminal_ends_the_program_and_leaves_nothing(tmp_path: Path, is_busy: bool) -> None:
    program = Program.in_folder(tmp_path)
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    environment = program.environment | {"TMPDIR": str(scratch)}
    with Tmux(f"echo $$ > {tmp_path}/pid; exec {PROGRAM} demo", program.project, environment) as tmux:
        tmux.shows("say anything to start")
        if is_busy:
            tmux.type("go")
            tmux.keys("Enter")
            tmux.shows("Hello!")
        pid = int((tmp_path / "pid").read_text())
        ended = os.pidfd_open(pid)
    # Leaving the block killed the server: the program's terminal is gone.
    assert select.select([ended], [], [], PATIENCE)[0]
    os.close(ended)
    assert list(scratch.glob("coder-tui-demo-*")) == []
