"""Terminals that are resized many times show in the end what a new terminal shows."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import PROGRAM, Program
from tests.fakes.script import Call, JsonObject, Reply
from tests.fakes.tmux import PATIENCE, Tmux, needs_tmux

pytestmark = needs_tmux
NARROW = ((40, 12), (39, 11), (25, 6), (1, 1))
WIDTHS = (*range(200, 40, -23), *range(40, 201, 23), 60, 199, 45, 140, 99)
ANSWER = (
    "## What I found\n\nThe *first* paragraph is long enough to be wrapped at every width but the widest, "
    "and it names `some_code` and [a link](https://example.org/).\n\n"
    + "\n".join(f"{n}. item number {n} with `code` and words that go on for a while" for n in range(1, 30))
    + "\n\n| name | value | remark |\n|---|---|---|\n"
    + "".join(f"| row {n} | {n * n} | a remark that takes room |\n" for n in range(8))
    + "\n```python\n"
    + "".join(f"def function_{n}(argument):\n    return argument * {n}\n" for n in range(6))
    + "```\n\nThe very end."
)
ALLOWED = re.compile(r"38;5;188m\x1b\[48;5;\d+m allow once")
"""In the color of text; it is 38;5;245 while there is more to read."""
EDIT = Call("write", {"path": "b.txt", "content": "".join(f"line {n} of the file\n" for n in range(40))})


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program.in_folder(tmp_path)


@contextmanager
def twins(
    program: Program, respond: Callable[[JsonObject], Reply], size: tuple[int, int]
) -> Iterator[tuple[Tmux, Tmux]]:
    """Two terminals of a size with the same task before them."""
    with ExitStack() as stack:
        server = stack.enter_context(OpenAIServer(respond))
        command = f"{PROGRAM} --model openai/x --api-base {server.url}"
        made = [Tmux(command, program.project, program.environment, *size) for _ in range(2)]
        first, second = (stack.enter_context(terminal) for terminal in made)
        for terminal in first, second:
            terminal.shows(r"ASK +(openai/)?x")
            terminal.type("go on")
            terminal.keys("Enter")
        yield first, second


def storm(terminal: Tmux, size: tuple[int, int]) -> None:
    """From 200 columns to 40 and back, too small in between, faster than a frame can be drawn."""
    for width in WIDTHS:
        terminal.resize(width, 12 + width % 30)
    for shape in NARROW:
        terminal.resize(*shape)
    terminal.resize(200, 50)
    terminal.resize(*size)


def frame(terminal: Tmux) -> str:
    """All that is shown, with its colours."""
    return terminal.ask("capture-pane", "-p", "-e")


def assert_same_frame(stormy: Tmux, calm: Tmux) -> None:
    end = time.monotonic() + PATIENCE
    while frame(stormy) != frame(calm):
        if time.monotonic() > end:
            assert stormy.screen() == calm.screen()
            assert frame(stormy) == frame(calm)
        time.sleep(0.1)


def wait_until_allowed(terminal: Tmux) -> None:
    """Wait until the answer is no longer dimmed: the end counts as seen a moment after it is painted."""
    end = time.monotonic() + PATIENCE
    while not ALLOWED.search(frame(terminal)):
        assert time.monotonic() < end, frame(terminal)
        time.sleep(0.05)


def has_tool_result(request: JsonObject) -> bool:
    messages = request["messages"]
    assert isinstance(messages, list)
    return str(messages[-1]["role"]) == "tool"


@pytest.mark.parametrize("size", [(200, 50), (40, 12)], ids=str)
def test_a_storm_leaves_a_conversation_as_a_fresh_terminal_shows_it(
    program: Program, size: tuple[int, int]
) -> None:
    with twins(program, lambda _: Reply(text=ANSWER), size) as (stormy, calm):
        for terminal in stormy, calm:
            terminal.shows(r"The very end\.")
        storm(stormy, size)
        assert_same_frame(stormy, calm)


def test_a_storm_keeps_the_scroll_position(program: Program) -> None:
    with twins(program, lambda _: Reply(text=ANSWER), (80, 24)) as (stormy, calm):
        for terminal in stormy, calm:
            terminal.shows(r"The very end\.")
            terminal.keys("PPage", "PPage")
            terminal.shows(r"item number 12[\s\S]*row 0")
        storm(stormy, (80, 24))
        assert_same_frame(stormy, calm)


def test_a_storm_while_an_answer_streams_changes_nothing_of_it(program: Program) -> None:
    with twins(program, lambda _: Reply(text=ANSWER, chunk_delay=0.01), (200, 50)) as (stormy, calm):
        stormy.shows("item number")
        storm(stormy, (200, 50))
        for terminal in stormy, calm:
            terminal.shows(r"The very end\.")
        assert_same_frame(stormy, calm)


@pytest.mark.parametrize("size", [(200, 50), (80, 24)], ids=str)
def test_a_storm_leaves_a_request_as_a_fresh_terminal_shows_it(
    program: Program, size: tuple[int, int]
) -> None:
    def respond(request: JsonObject) -> Reply:
        return Reply(text="Written.") if has_tool_result(request) else Reply(calls=(EDIT,))

    with twins(program, respond, size) as (stormy, calm):
        for terminal in stormy, calm:
            terminal.shows(r"Allow write\?[\s\S]*ready")
            # Its end is seen before the storm: whether a size in between shows it is up to the machine.
            terminal.resize(200, 50)
            terminal.shows(r"Allow write\?[\s\S]*line 39 of the file[\s\S]*ready")
            wait_until_allowed(terminal)
            terminal.resize(*size)
        storm(stormy, size)
        # A dialog that had no room begins again, so its end has to be seen again.
        stormy.resize(200, 50)
        wait_until_allowed(stormy)
        stormy.resize(*size)
        assert_same_frame(stormy, calm)
        stormy.keys("n")
        stormy.shows(r"Written\.")
