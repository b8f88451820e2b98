"""Title, clipboard, suspending and quitting in a real terminal."""

import re
import time
from pathlib import Path

from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import PLAIN, PROGRAM, Program
from tests.fakes.script import Call, Reply
from tests.fakes.tmux import PATIENCE, Tmux, needs_tmux

pytestmark = needs_tmux


def terminal(program: Program, *arguments: str, columns: int = 100, rows: int = 30) -> Tmux:
    return Tmux(" ".join([PROGRAM, *arguments]), program.project, program.environment, columns, rows)


def waits_for(read: "Tmux", command: tuple[str, ...], wanted: str) -> None:
    end = time.monotonic() + PATIENCE
    while (found := read.ask(*command)) != wanted:
        assert time.monotonic() < end, f"{found!r} is not {wanted!r}"
        time.sleep(0.05)


def test_a_session_from_title_to_exit_summary(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    (program.project / "a.txt").write_text("one\n")
    edit = Call("edit", {"path": "a.txt", "old_string": "one", "new_string": "two\nthree"})
    script = [
        Reply(text="I look.", calls=(Call("read", {"path": "a.txt"}),)),
        Reply(calls=(edit,)),
        Reply(text="Fixed."),
    ]
    title = ("display-message", "-p", "#{pane_title}")
    with (
        OpenAIServer(script) as server,
        terminal(program, "--model", "openai/x", "--api-base", server.url, "--print-transcript") as tmux,
    ):
        tmux.ask("set-option", "-s", "set-clipboard", "on")
        tmux.shows(r"ASK  (openai/)?x")
        waits_for(tmux, title, "project")
        tmux.type("make it two")
        tmux.keys("Enter")
        tmux.shows(r"Allow edit\?[\s\S]*ready")
        waits_for(tmux, title, "? project")
        tmux.keys("C-y")
        tmux.shows("Fixed")
        waits_for(tmux, title, "✓ project")
        tmux.keys("Tab", "y")
        tmux.shows("Sent 6 characters to the clipboard")
        waits_for(tmux, ("show-buffer",), "Fixed.")
        tmux.keys("i", "C-d")
        screen = tmux.shows("exit code 0")
    assert "1 file changed  +2 -1" in screen
    assert "M a.txt  +2 -1" in screen
    assert "coder-tui --resume" in screen
    assert "## Assistant" in screen


def test_a_suspended_session_comes_back_as_it_was(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    # A shell with job control around the program, as a user has.
    with Tmux("bash --norc -i", program.project, program.environment, 80, 24) as tmux:
        tmux.shows("bash-")
        tmux.type(f"'{PLAIN}' demo")
        tmux.keys("Enter")
        tmux.shows("say anything to start")
        tmux.type("half a draft")
        tmux.shows("half a draft")
        tmux.keys("C-z")
        tmux.shows(r"Stopped[\s\S]*bash-")
        tmux.type("fg")
        tmux.keys("Enter")
        tmux.shows(r"say anything to start[\s\S]*half a draft")
        tmux.type(" more")
        tmux.shows("half a draft more")
        tmux.keys("C-c", "C-d")
        tmux.shows(r"bash-\S+\s*$")


def answer(tmux: Tmux, number: str, then: str) -> None:
    """Answer a menu until it accepts: it takes no answer before it can have been read."""
    while True:
        tmux.type(number)
        tmux.shows(rf"then press Enter:\s+{number}\s*\Z")
        tmux.keys("Enter")
        if re.search(then, tmux.shows(rf"{then}|then press Enter:\s*\Z")):
            return


def test_the_append_only_mode_in_a_dumb_terminal(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    environment = program.environment | {"TERM": "dumb"}
    with Tmux(f"env TERM=dumb {PROGRAM} demo --plain", program.project, environment, 80, 50) as tmux:
        tmux.shows(r"\n>\s*$")
        tmux.type("hello")
        tmux.keys("Enter")
        tmux.shows("Type a number from 1 to")
        answer(tmux, "2", r"Allow edit\?[\s\S]*Type a number from 1 to")
        answer(tmux, "4", r"Stopped\.[\s\S]*\n>\s*$")
        tmux.keys("C-d")
        tmux.shows("exit code 0")


def test_ctrl_c_stops_a_plain_turn_and_twice_it_quits(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    with terminal(program, "demo", "--plain") as tmux:
        tmux.shows(r"\n>\s*$")
        tmux.type("hello")
        tmux.keys("Enter")
        tmux.shows("Type a number from 1 to")
        tmux.keys("C-c")
        tmux.shows(r"Stopped\.[\s\S]*\n>\s*$")
        tmux.keys("C-c")
        tmux.shows("Ctrl.C again to quit")
        tmux.keys("C-c")
        tmux.shows("exit code 0")


def test_a_user_in_another_window_is_notified(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    raw = tmp_path / "raw"
    with (
        OpenAIServer([Reply(text="Fixed.", first_delay=3)]) as server,
        terminal(program, "--model", "openai/x", "--api-base", server.url) as tmux,
    ):
        tmux.shows(r"ASK  (openai/)?x")
        tmux.ask("pipe-pane", "-O", f"cat >> {raw}")
        tmux.type("go")
        tmux.keys("Enter")
        tmux.shows("working")
        tmux.type("\x1b[O")  # what a terminal sends when it loses the focus
        tmux.shows("Fixed")
        waits_for(tmux, ("display-message", "-p", "#{pane_title}"), "✓ project")
    assert raw.read_bytes().count(b"\a\x1bPtmux;\x1b\x1b]9;coder-tui: project is done\a\x1b\\") == 1
