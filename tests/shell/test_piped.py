"""Programs that read input: what they read, what they answer, and how they end."""

import asyncio
import os
from pathlib import Path

import pytest

from coder_tui.shell.sandbox.confinement import NOTHING_MORE
from coder_tui.shell.session_shell import Answer, AnswerLimits, SessionShell
from tests.fakes.bell import wait_for_ring
from tests.fakes.shells import shell_for


async def ask(shell: SessionShell, command: str, given: str = "", time_limit: float = 20.0) -> Answer:
    return await shell.run_with_input(command, given, NOTHING_MORE, AnswerLimits(time_limit, 100_000))


async def test_it_reads_its_whole_input(tmp_path: Path) -> None:
    answer = await ask(shell_for(tmp_path), "cat; echo wrong >&2", "x" * 90_000)
    assert answer == Answer(0, "x" * 90_000, "wrong\n")


@pytest.mark.parametrize(
    ("command", "ending"),
    [
        ("exit 3", "ended with exit code 3"),
        ("kill -KILL $$", "was ended by SIGKILL"),
        ("yes", "printed too much and was stopped"),
    ],
    ids=["code", "signal", "flood"],
)
async def test_each_way_to_end_has_its_description(tmp_path: Path, command: str, ending: str) -> None:
    assert (await ask(shell_for(tmp_path), command)).ending == ending


async def test_a_program_that_hangs_is_stopped_with_everything_it_started(tmp_path: Path) -> None:
    marker = tmp_path / "pid"
    answer = await ask(shell_for(tmp_path), f"sleep 60 & echo $! > {marker}; wait", time_limit=0.5)
    assert (answer.timed_out, answer.ending) == (True, "took too long and was stopped")
    with pytest.raises(ProcessLookupError):
        os.kill(int(marker.read_text()), 0)


async def test_cancelling_ends_it(tmp_path: Path) -> None:
    fifo, marker = tmp_path / "started", tmp_path / "pid"
    os.mkfifo(fifo)
    asking = asyncio.create_task(ask(shell_for(tmp_path), f"echo $$ > {marker}; echo x > {fifo}; sleep 60"))
    await wait_for_ring(fifo)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    with pytest.raises(ProcessLookupError):
        os.kill(int(marker.read_text()), 0)
