"""A cancelled command leaves no process behind, whatever it does to survive."""

import asyncio
import uuid
from pathlib import Path

import pytest

from bench.cancel import KINDS, cancel_many, processes_with
from coder_tui.shell.sandbox.confinement import NOTHING_MORE
from coder_tui.shell.sandbox.sandbox import SandboxStatus
from tests.fakes.shells import BUBBLEWRAP, LANDLOCK, UNCONFINED, shell_for, skip_without_sandbox

SAMPLE = 2 * len(KINDS)


@pytest.mark.parametrize(
    ("status", "commands"),
    [(BUBBLEWRAP, SAMPLE), (LANDLOCK, len(KINDS)), (UNCONFINED, len(KINDS))],
    ids=lambda value: str(getattr(value, "kind", value)),
)
async def test_no_process_is_left(tmp_path: Path, status: SandboxStatus, commands: int) -> None:
    skip_without_sandbox(status.kind)

    found = await cancel_many(tmp_path, status, commands, seed=1)

    assert (found.cancelled, found.left) == (commands, [])


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("steps", range(0, 24, 3))
async def test_a_command_that_is_cancelled_while_starting_does_not_keep_running(
    tmp_path: Path, steps: int
) -> None:
    """At any point of the start: `steps` are iterations of the loop."""
    (tmp_path / "ws").mkdir()
    mark = f"1000.{steps}{uuid.uuid4().int}"
    shell = shell_for(tmp_path / "ws", BUBBLEWRAP if BUBBLEWRAP.program else UNCONFINED)
    running = asyncio.ensure_future(
        shell.run(f"exec sleep {mark}", NOTHING_MORE, name="c", time_limit=60.0, on_output=lambda text: None)
    )
    for _ in range(steps):
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await shell.close()

    assert processes_with(mark) == []
    assert names_in(tmp_path / "ws") == []
