"""Keys as a real terminal delivers them: several in one read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.program import PROGRAM, Program
from tests.fakes.tmux import Tmux, needs_tmux

pytestmark = needs_tmux


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    program = Program.in_folder(tmp_path)
    with Tmux(f"{PROGRAM} demo", program.project, program.environment, 80, 24) as terminal:
        terminal.shows("say anything to start")
        yield terminal


def test_keys_of_one_read_write_in_their_order(tmux: Tmux) -> None:
    tmux.keys("a", "X")
    tmux.shows("❯ aX")
    tmux.keys("BSpace", "b")
    tmux.shows(r"❯ ab\s*\n")
    tmux.keys("C-u", "o", "n", "e", "C-j", "t", "w", "o", "Left", "Left", "Left", "BSpace", "X")
    tmux.shows(r"❯ oneXtwo\s*\n")


def test_enter_sends_what_the_keys_before_it_left(tmux: Tmux) -> None:
    tmux.keys(*"hello", "X", "X", "BSpace", "BSpace", "Enter")
    screen = tmux.shows(r"you  hello\s*\n")
    assert "helloXX" not in screen


def test_letters_typed_over_the_transcript_all_arrive(tmux: Tmux) -> None:
    tmux.keys("Tab", *"zoo", "Space", *"foo", "Space", *"boo")
    tmux.shows(r"❯ zoo foo boo\s*\n")
