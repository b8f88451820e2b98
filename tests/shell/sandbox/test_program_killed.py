"""When the program is killed, its background jobs end with it."""

import contextlib
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bench.cancel import processes_with
from coder_tui.shell.sandbox.sandbox import SandboxStatus
from tests.fakes.shells import BUBBLEWRAP, LANDLOCK, UNCONFINED, skip_without_sandbox

PATIENCE_MS = 20_000
ROOT = Path(__file__).resolve().parents[3]
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
}
PROGRAM = """
import asyncio, sys
from pathlib import Path
from coder_tui.shell.sandbox.confinement import NOTHING_MORE
from tests.fakes import shells

async def main(root, kind, mark):
    shell = shells.shell_for(Path(root), getattr(shells, kind))
    line = f"(env -i setsid sleep {mark} &); touch up; sleep {mark}"
    await shell.start(line, NOTHING_MORE, name="job")
    waiting = "until [ -e up ]; do sleep 0.01; done; echo"
    await shell.run(waiting, NOTHING_MORE, name="wait", time_limit=30.0, on_output=print)
    sys.stdout.flush()
    await asyncio.Event().wait()

asyncio.run(main(*sys.argv[1:]))
"""
KINDS = [("BUBBLEWRAP", BUBBLEWRAP), ("LANDLOCK", LANDLOCK), ("UNCONFINED", UNCONFINED)]


@pytest.mark.parametrize(("kind", "status"), KINDS, ids=lambda value: str(getattr(value, "kind", "")))
def test_jobs_die_with_the_program(tmp_path: Path, kind: str, status: SandboxStatus) -> None:
    skip_without_sandbox(status.kind)
    (tmp_path / "ws").mkdir()
    mark = f"1000.{os.getpid()}{KINDS.index((kind, status))}"
    words = [sys.executable, "-c", PROGRAM, str(tmp_path / "ws"), kind, mark]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=ENVIRONMENT) as program:
        assert program.stdout is not None
        program.stdout.readline()
        jobs = [os.pidfd_open(pid) for pid in processes_with(mark) if pid != program.pid]
        program.send_signal(signal.SIGKILL)

    assert len(jobs) >= 2
    for job in jobs:
        with contextlib.closing(os.fdopen(job, "rb", buffering=0)):
            poll = select.poll()
            poll.register(job, select.POLLIN)
            assert poll.poll(PATIENCE_MS)
    assert processes_with(mark) == []
