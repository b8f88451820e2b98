"""Commands run with limits and live output, and leave no process behind."""

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from coder_tui.shell.command import Completed, OutputCollector, run_launch, shell_argv
from coder_tui.shell.running import Launch
from tests.fakes.process_family import is_alive

ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}


async def run(
    command: str,
    directory: Path,
    *,
    time_limit: float = 30.0,
    limit: int = 30_000,
    on_output: Callable[[str], None] = lambda text: None,
) -> Completed:
    launch = Launch(shell_argv("/bin/sh", command), ENVIRONMENT)
    collector = OutputCollector(limit, on_output)
    return await run_launch(launch, collector, directory=directory, time_limit=time_limit)


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


class Started:
    """Collects live output and reports when a line is complete."""

    def __init__(self) -> None:
        self.text = ""
        self.line = asyncio.Event()

    def __call__(self, text: str) -> None:
        self.text += text
        if "\n" in self.text:
            self.line.set()


async def test_both_streams_and_the_exit_code_come_back(tmp_path: Path) -> None:
    completed = await run("echo out; echo err >&2; exit 3", tmp_path)

    assert (completed.exit_code, completed.stdout, completed.stderr) == (3, "out\n", "err\n")
    assert sorted(completed.output.split()) == ["err", "out"]
    assert not completed.truncated
    assert not completed.timed_out


async def test_a_command_runs_in_its_directory_and_session(tmp_path: Path) -> None:
    completed = await run("pwd -P; cut -d' ' -f6 /proc/$$/stat; echo $$", tmp_path)

    directory, session, pid = completed.stdout.split()
    assert (directory, session) == (str(tmp_path), pid)


async def test_a_command_that_wants_input_gets_none(tmp_path: Path) -> None:
    assert (await run("read line || echo nothing", tmp_path)).stdout == "nothing\n"


async def test_a_signal_gives_128_and_its_number(tmp_path: Path) -> None:
    assert (await run("kill -9 $$", tmp_path)).exit_code == 137


async def test_too_much_output_keeps_head_and_tail(tmp_path: Path) -> None:
    completed = await run("echo first; yes middle | head -n 100000; echo last", tmp_path, limit=1_000)

    assert completed.truncated
    assert len(completed.stdout.encode()) <= 1_000
    assert completed.stdout.startswith("first\nmiddle\n")
    assert completed.stdout.endswith("middle\nlast\n")
    assert completed.stdout.count("\n[output truncated]\n") == 1


async def test_a_cut_never_goes_through_a_character(tmp_path: Path) -> None:
    program = "print('日本語' * 5000)"

    for limit in range(200, 206):
        completed = await run(f'"{sys.executable}" -c "{program}"', tmp_path, limit=limit)

        assert "\ufffd" not in completed.stdout
        assert len(completed.stdout.encode()) <= limit


async def test_output_at_the_limit_is_whole(tmp_path: Path) -> None:
    completed = await run("printf 1234567890", tmp_path, limit=10)

    assert (completed.stdout, completed.truncated) == ("1234567890", False)


async def test_undecodable_output_is_replaced(tmp_path: Path) -> None:
    assert (await run(r"printf 'a\377b'", tmp_path)).stdout == "a\ufffdb"


async def test_output_is_seen_while_the_command_runs(tmp_path: Path) -> None:
    go = tmp_path / "go"
    seen: list[str] = []

    def on_output(text: str) -> None:
        seen.append(text)
        go.touch()

    completed = await run(
        f"printf h; while [ ! -e {go} ]; do :; done; echo there", tmp_path, on_output=on_output
    )

    assert seen[0] == "h"
    assert "".join(seen) == completed.stdout == "hthere\n"


async def test_a_character_in_two_pieces_is_shown_whole(tmp_path: Path) -> None:
    go = tmp_path / "go"
    seen: list[str] = []

    def on_output(text: str) -> None:
        seen.append(text)
        go.touch()

    command = rf"printf 'a\303'; while [ ! -e {go} ]; do :; done; printf '\251'"
    await run(command, tmp_path, on_output=on_output)

    assert seen == ["a", "é"]


async def test_time_runs_out_with_124(tmp_path: Path) -> None:
    completed = await run("echo before; sleep 60", tmp_path, time_limit=0.3)

    assert (completed.exit_code, completed.timed_out, completed.stdout) == (124, True, "before\n")


async def test_a_command_that_ignores_term_is_killed(tmp_path: Path) -> None:
    command = "trap '' TERM; echo $$; while :; do sleep 1; done"

    completed = await run(command, tmp_path, time_limit=0.3)

    assert completed.exit_code == 124
    assert not is_alive(int(completed.stdout))


@pytest.mark.parametrize(
    "escape",
    [
        "sleep 60 & echo $!",
        "sleep 60 >/dev/null 2>&1 & echo $!",
        "setsid sh -c 'echo $$ >id; exec sleep 60' >/dev/null 2>&1 & until [ -s id ]; do :; done; cat id",
        "(setsid sh -c 'echo $$; exec sleep 60' &)",
    ],
)
async def test_a_child_in_the_background_neither_hangs_the_result_nor_survives(
    tmp_path: Path, escape: str
) -> None:
    completed = await run(escape, tmp_path)

    assert completed.exit_code == 0
    assert not is_alive(int(completed.stdout))


async def test_cancelling_ends_the_whole_tree(tmp_path: Path) -> None:
    started = Started()
    command = "setsid sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' & sleep 60"
    task = asyncio.ensure_future(run(command, tmp_path, on_output=started))
    await started.line.wait()

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert not is_alive(int(started.text))


async def test_cancelling_twice_still_ends_everything(tmp_path: Path) -> None:
    started = Started()
    command = "trap '' TERM; echo $$; while :; do sleep 1; done"
    task = asyncio.ensure_future(run(command, tmp_path, on_output=started))
    await started.line.wait()

    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    # The shell may report the end of its child on the same stream.
    assert not is_alive(int(started.text.split()[0]))


async def test_a_flood_is_shown_in_part_and_kept_in_bounds(tmp_path: Path) -> None:
    seen: list[str] = []

    completed = await run("yes | head -c 20000000", tmp_path, on_output=seen.append)

    assert len(completed.stdout) <= 30_000
    assert max(len(piece) for piece in seen) <= 40_000


async def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    await run("true", tmp_path)
    before = open_descriptors()

    for _ in range(5):
        await run("true", tmp_path)
    await asyncio.sleep(0)

    assert open_descriptors() == before


async def test_a_program_that_is_not_there_cannot_start(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await run_launch(
            Launch(("/nonexistent/sh",), ENVIRONMENT),
            OutputCollector(100, lambda text: None),
            directory=tmp_path,
            time_limit=1.0,
        )
