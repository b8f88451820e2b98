"""Cancelling a server's start, and its sudden end, leave no process and block nothing."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from coder_tui.shell.hosts.server import ServerProcess
from coder_tui.shell.sandbox.confinement import NOTHING_MORE
from tests.fakes.process_family import is_alive
from tests.fakes.shells import UNCONFINED, sandbox_for

ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


async def start_until_pipes_are_connected(folder: Path) -> None:
    """Return, which ends the loop, while asyncio connects the pipes of a server."""
    sandbox = sandbox_for(folder, UNCONFINED)
    start = ServerProcess.start(sandbox, ("/bin/cat",), ENVIRONMENT, folder, NOTHING_MORE)
    starting = asyncio.ensure_future(start)
    while not any("_connect_pipes" in repr(task.get_coro()) for task in asyncio.all_tasks()):
        assert not starting.done()
        await asyncio.sleep(0)


@pytest.mark.timeout(30)
def test_a_loop_that_ends_while_a_server_starts_does_not_wait_for_it(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    asyncio.run(start_until_pipes_are_connected(folder))


async def test_a_start_that_is_cancelled_twice_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    ended: list[int] = []
    end = ServerProcess.end

    async def note(server: ServerProcess) -> None:
        await end(server)
        ended.append(await server.exited())

    monkeypatch.setattr(ServerProcess, "end", note)
    start = ServerProcess.start(
        sandbox_for(folder, UNCONFINED), ("/bin/cat",), ENVIRONMENT, folder, NOTHING_MORE
    )
    starting = asyncio.ensure_future(start)
    for _ in range(2):
        await asyncio.sleep(0)
        starting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await starting
    assert len(ended) == 1


async def test_a_sudden_end_is_noticed_though_another_process_holds_the_pipes(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    argv = ("/bin/sh", "-c", "sleep 1000 & echo $!; wait")
    server = await ServerProcess.start(
        sandbox_for(folder, UNCONFINED), argv, ENVIRONMENT, folder, NOTHING_MORE
    )
    left = int(await server.stdout.readline())

    os.kill(server.pid, signal.SIGKILL)

    assert await server.exited() == -signal.SIGKILL
    assert is_alive(left)
    await server.end()
    assert not is_alive(left)
