"""No language server outlives the program, however that ends."""

import asyncio
import os
import signal
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tests.fakes.needs import working_bubblewrap

ROOT = Path(__file__).resolve().parents[2]
MARK = "CODER_TUI_TEST_LEFTOVER"
# A program that lets a stubborn server check a file, reports it, and waits.
PROGRAM = """
import asyncio, sys
from pathlib import Path
from tests.fakes.lsp_pools import faked, pool_in
from tests.fakes.shells import BUBBLEWRAP, UNCONFINED

async def main():
    root = Path(sys.argv[1])
    pool = pool_in(root, faked("stubborn"), status=BUBBLEWRAP if sys.argv[2] == "bubblewrap" else UNCONFINED)
    found = await pool.diagnostics(root / "a.py", "bad\\n")
    print(found.status, len(found.items), flush=True)
    if sys.argv[3] == "close":
        await pool.close()
    else:
        await asyncio.sleep(600)

asyncio.run(main())
"""


def marked(mark: str) -> set[int]:
    """The processes that carry the mark in their environment, or could not be looked at."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                environment = (entry / "environ").read_bytes()
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if f"{MARK}={mark}".encode() in environment.split(b"\0") and state not in "ZX":
                found.add(int(entry.name))
    return found


def speaker(mark: str) -> int:
    """Return the language server host."""
    lines = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in marked(mark)}
    return next(pid for pid, line in lines.items() if b"coder_tui.lsp.host" in line)


@pytest.mark.parametrize("way", ["close", "kill", "terminate", "kill both"])
async def test_nothing_is_left_of_a_stubborn_server(tmp_path: Path, way: str) -> None:
    # Concurrently: most of the time is spent waiting for such a server.
    ways = ("bubblewrap", "none") if working_bubblewrap() else ("none",)
    left = await asyncio.gather(*(ended(tmp_path / how, how, way) for how in ways))
    assert left == [set() for _ in ways]


async def ended(folder: Path, confined: str, way: str) -> set[int]:
    """Return the processes left by a program that ended this way."""
    root = folder / "w"
    await asyncio.to_thread(root.mkdir, parents=True)
    mark = f"{folder.parent.name}-{confined}-{os.getpid()}"
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", textwrap.dedent(PROGRAM), str(root), confined, way),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, MARK: mark, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
    )
    assert program.stdout is not None
    assert await asyncio.wait_for(program.stdout.readline(), 60) == b"fresh 1\n"
    # The program, the host, and at least the server itself.
    if way != "close":
        assert len(await asyncio.to_thread(marked, mark)) >= 3
        if way == "kill both":
            os.kill(speaker(mark), signal.SIGKILL)
        program.send_signal(signal.SIGTERM if way == "terminate" else signal.SIGKILL)
    await asyncio.wait_for(program.wait(), 30)
    return await asyncio.to_thread(left_after, mark, 20.0)


def left_after(mark: str, seconds: float) -> set[int]:
    """Return the processes left when the time is up, or none as soon as all are gone."""
    deadline = time.monotonic() + seconds
    while (left := marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left
