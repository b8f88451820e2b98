"""Ways out of the screen, and back into it: the terminal is left as it was found."""

import os
import re
import signal
import time
from pathlib import Path

import pytest

from tests.fakes.program import PLAIN, PROGRAM, Program
from tests.fakes.tmux import PATIENCE, Tmux, needs_tmux

pytestmark = needs_tmux
MODE = re.compile(rb"\x1b\[\?([\d;]+)([hl])")
USUALLY_ON = {b"7", b"25"}
"""Wrapping at the margin, and the cursor."""
KITTY = re.compile(rb"\x1b\[([<>])(\d*)u")


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program.in_folder(tmp_path)


def started(program: Program, raw: Path, pid: Path) -> Tmux:
    """All that the program writes goes to `raw`, from its first byte on."""
    command = f"tmux pipe-pane -O 'cat >> {raw}'; sh -c 'echo $$ > {pid}; exec {PROGRAM} demo'"
    return Tmux(command, program.project, program.environment, 80, 24)


def unusual_modes(raw: bytes) -> set[bytes]:
    """Private modes whose last state is not the one that shells expect."""
    state: dict[bytes, bool] = {}
    for numbers, word in MODE.findall(raw):
        state |= dict.fromkeys(numbers.split(b";"), word == b"h")
    kitty = sum(1 if sign == b">" else -1 for sign, _ in KITTY.findall(raw))
    unusual = {mode for mode, is_on in state.items() if is_on is not (mode in USUALLY_ON)}
    return unusual | ({b"kitty keys"} if kitty > 0 else set())


@pytest.mark.parametrize("way", ["C-d", "TERM", "quit"])
def test_every_way_out_leaves_the_terminal_as_it_was(program: Program, tmp_path: Path, way: str) -> None:
    raw, pid = tmp_path / "raw", tmp_path / "pid"
    with started(program, raw, pid) as tmux:
        tmux.shows("say anything to start")
        assert tmux.ask("display-message", "-p", "#{alternate_on} #{mouse_any_flag}") == "1 1"
        assert {b"1049", b"2004"} <= unusual_modes(raw.read_bytes())
        tmux.type("hello")
        tmux.keys("Enter")
        tmux.shows(r"Run this command\?[\s\S]*ready")
        tmux.keys("Escape")
        tmux.shows("stopped by you")
        leave(tmux, pid, way)
        tmux.shows(rf"exit code {143 if way == 'TERM' else 0}")
        flags = "#{alternate_on} #{mouse_any_flag} #{cursor_flag}"
        assert tmux.ask("display-message", "-p", flags) == "0 0 1"
    assert unusual_modes(raw.read_bytes()) == set()


def leave(tmux: Tmux, pid: Path, way: str) -> None:
    match way:
        case "TERM":
            os.kill(int(pid.read_text()), signal.SIGTERM)
        case "quit":
            tmux.type("/quit")
            tmux.keys("Enter")
        case key:
            tmux.keys(key)


def test_a_program_that_is_stopped_from_outside_continues_where_it_was(
    program: Program, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    with Tmux("bash --norc -i", program.project, program.environment, 80, 24) as tmux:
        tmux.shows("bash-")
        tmux.type(f"sh -c 'echo $$ > {pid}; exec \"{PLAIN}\" demo'")
        tmux.keys("Enter")
        tmux.shows("say anything to start")
        tmux.type("half a draft")
        tmux.shows("❯ half a draft")
        number = int(pid.read_text())
        os.kill(number, signal.SIGTSTP)
        tmux.shows(r"Stopped[\s\S]*bash-")
        wait_for_flag(tmux, "#{alternate_on}", "0")
        tmux.type("fg")
        tmux.keys("Enter")
        tmux.shows("❯ half a draft")
        wait_for_flag(tmux, "#{alternate_on}", "1")
        tmux.type(" more")
        tmux.shows("❯ half a draft more")


def wait_for_flag(tmux: Tmux, flag: str, wanted: str) -> None:
    end = time.monotonic() + PATIENCE
    while tmux.ask("display-message", "-p", flag) != wanted:
        assert time.monotonic() < end, f"{flag} is not {wanted}"
        time.sleep(0.05)
