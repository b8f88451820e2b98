"""Cancel running commands of kinds that tend to survive: nothing may be left, and soon.

uv run python -m bench.cancel [--commands 500] [--landlock | --none] [--seed 1]
"""

import argparse
import asyncio
import contextlib
import os
import random
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from coder_tui.shell.sandbox.confinement import NOTHING_MORE
from coder_tui.shell.sandbox.sandbox import SandboxStatus
from coder_tui.shell.session_shell import SessionShell
from tests.fakes.shells import BUBBLEWRAP, LANDLOCK, UNCONFINED, shell_for

SAY = "echo ready; "
STARTING = "still starting"
LONGEST_START = 0.06
# `MARK` becomes an argument by which the processes can be found, however they change their environment.
KINDS = {
    "plain": SAY + "sleep 1000 # MARK",
    "child": SAY + "sh -c 'sleep 1000 # MARK' & wait",
    "pipeline": SAY + "sh -c 'sleep 1000 # MARK' | cat",
    "setsid": "setsid sh -c 'echo ready; sleep 1000 # MARK' & sleep 1000",
    "double fork": "(setsid sh -c '(sh -c \"echo ready; sleep 1000 # MARK\" &)' &) ; sleep 1000",
    "emptied environment": "(env -i setsid sh -c 'echo ready; sleep 1000 # MARK' &) ; sleep 1000",
    "leader gone": "(env -i setsid nohup sh -c 'echo ready; sleep 1000 # MARK' &) ; exec sleep 1000",
    "ignores TERM": "trap '' TERM; echo ready; while :; do sh -c 'sleep 1000 # MARK'; done",
    "ignores TERM, setsid": '(env -i setsid sh -c \'trap "" TERM HUP INT; echo ready; '
    "while :; do sleep 1 # MARK\ndone' &) ; sleep 1000",
    STARTING: "(env -i setsid sh -c 'sleep 1000 # MARK' &) ; sleep 1000",
    "many": SAY + "for i in 1 2 3 4 5 6 7 8; do setsid sh -c 'sleep 1000 # MARK' & done; wait",
}


@dataclass
class Found:
    cancelled: int = 0
    left: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def quantile(self, part: float) -> float:
        ordered = sorted(self.seconds)
        return ordered[min(int(len(ordered) * part), len(ordered) - 1)]


async def cancel_one(shell: SessionShell, kind: str, found: Found, dice: random.Random) -> None:
    """Start a command, wait until it runs, cancel it, and find what is left."""
    mark, ready = f"mark-{uuid.uuid4().hex}", asyncio.Event()
    command = KINDS[kind].replace("MARK", mark)
    running = asyncio.ensure_future(
        shell.run(command, NOTHING_MORE, name=mark, time_limit=60.0, on_output=lambda text: ready.set())
    )
    if kind == STARTING:
        # It must not escape at any moment of its start.
        await asyncio.sleep(dice.uniform(0.0, LONGEST_START))
    else:
        await ready.wait()
    began = time.perf_counter()
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running
    found.seconds.append(time.perf_counter() - began)
    found.cancelled += 1
    if left := await asyncio.to_thread(processes_with, mark):
        found.left.append(f"{kind}: {left}")


def processes_with(mark: str) -> list[int]:
    """Return running processes whose command line contains `mark`."""
    found, wanted = [], mark.encode()
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if wanted in Path(entry.path, "cmdline").read_bytes():
                    found.append(int(entry.name))
    return found


async def cancel_many(folder: Path, status: SandboxStatus, commands: int, seed: int) -> Found:
    (folder / "workspace").mkdir()
    shell, found, dice = shell_for(folder / "workspace", status), Found(), random.Random(seed)
    names = list(KINDS)
    try:
        for number in range(commands):
            # Each kind once first, so that a small sample has them all.
            kind = names[number] if number < len(names) else dice.choice(names)
            await cancel_one(shell, kind, found, dice)
    finally:
        await shell.close()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commands", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--landlock", action="store_true")
    parser.add_argument("--none", action="store_true")
    arguments = parser.parse_args()
    status = LANDLOCK if arguments.landlock else UNCONFINED if arguments.none else BUBBLEWRAP
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(cancel_many(Path(folder), status, arguments.commands, arguments.seed))
    print(f"{status.kind}: {found.cancelled} cancelled, {len(found.left)} left something behind")
    for left in found.left:
        print(f"  {left}")
    figures = ", ".join(f"p{part * 100:g} {found.quantile(part) * 1000:.0f} ms" for part in (0.5, 0.9, 0.99))
    print(f"until nothing lived: {figures}, most {max(found.seconds) * 1000:.0f} ms")
    return 1 if found.left else 0


if __name__ == "__main__":
    sys.exit(main())
