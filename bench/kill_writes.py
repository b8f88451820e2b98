"""Kill the program during writes: each file must be an old or a new version, and the next start clean.

uv run python -m bench.kill_writes [--kills 200] [--seed 1] [--session]
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.protocol.access import Mode
from coder_tui.storage.store import Store
from tests.fakes.program import Program
from tests.fakes.real_tools import setup_in
from tests.fakes.scripted_model import Say, ScriptedModel

FILES = {"small.txt": 3, "middle.txt": 300, "large.txt": 50_000}
"""Each file with how often its version is in it; all in one line, which takes no time to compare."""
NEW = 1_000
ROUNDS = 400
SELDOM = 20
LATEST_KILL = 0.6
LONGEST_WRITE = 0.001
PATIENCE = 60


@dataclass
class Found:
    kills: int = 0
    in_a_write: int = 0
    """Kills that left a half-written file for the next start."""
    mixed: list[str] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        return not (self.mixed or self.strays or self.damaged)


def calls(kill: int) -> Iterator[tuple[str, dict[str, str]]]:
    """What the program should do: read what is there, then write version after version."""
    for name in FILES:
        yield "read", {"path": name}
    for number in range(ROUNDS):
        for name, times in FILES.items():
            if name == "large.txt" and number % SELDOM:
                # A large file spends its time in the model's text, not in writing, and would hide the others.
                continue
            yield "write", {"path": name, "content": f"version {kill}.{number}|" * times}
        path = f"new/{kill}-{number}/file.txt"
        yield "write", {"path": path, "content": f"version {kill}.{number}|" * NEW}


def is_whole(path: Path) -> bool:
    text = path.read_text()
    version = text[: text.find("|") + 1]
    return version.startswith("version ") and text == version * FILES.get(path.name, NEW)


class Trials:
    """One project that is killed again and again."""

    def __init__(self, folder: Path, seed: int, *, with_session: bool) -> None:
        self._program = Program.in_folder(folder)
        self._random = random.Random(seed)
        self._with_session = with_session
        self.found = Found()

    def run(self, kills: int) -> Found:
        for number in range(kills):
            self._kill_once(number)
            self.found.kills += 1
            self._check()
        return self.found

    def _kill_once(self, number: int) -> None:
        process = self._start(number)
        is_writing = threading.Event()
        threads = [
            threading.Thread(target=_feed, args=(process, number)),
            threading.Thread(target=_drain, args=(process, is_writing)),
        ]
        for thread in threads:
            thread.start()
        if not is_writing.wait(PATIENCE):
            raise SystemExit("the program does not write")
        time.sleep(self._random.uniform(0, LATEST_KILL))
        if number % 2:
            self._wait_for_a_write(process)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for thread in threads:
            thread.join()

    def _wait_for_a_write(self, process: "subprocess.Popen[str]") -> None:
        """A write takes a small part of the time, so every other kill aims at one, early or late."""
        while process.poll() is None:
            names = [entry.name for entry in os.scandir(self._program.project)]
            if any(name.startswith(".coder-tui-") for name in names):
                time.sleep(self._random.uniform(0, LONGEST_WRITE))
                return

    def _start(self, number: int) -> "subprocess.Popen[str]":
        command = [*self._program.command("tool", "call", "--stdin", "--permission", "edits")]
        if self._with_session:
            script = [sys.executable, "-m", "bench.kill_writes", "--worker"]
            command = [*script, str(self._program.home), str(self._program.project), str(number)]
        return subprocess.Popen(
            command,
            cwd=Path(__file__).parents[1] if self._with_session else self._program.project,
            env=self._program.environment | self._folders,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    @property
    def _folders(self) -> dict[str, str]:
        names = ("DATA", "CONFIG", "CACHE")
        return {f"CODER_TUI_{name}_DIR": str(self._program.home / name.lower()) for name in names}

    def _check(self) -> None:
        files = [path for path in self._program.project.rglob("*.txt") if not path.name.startswith(".")]
        self.found.mixed += [str(path) for path in files if not is_whole(path)]
        self.found.in_a_write += bool(self._strays())
        started = self._program.run("tool", "call", "list", "{}", **self._folders)
        if started.returncode != 0:
            self.found.damaged.append(f"the next start failed: {started.stderr}")
        self.found.strays += self._strays()
        if self._with_session:
            self.found.damaged += asyncio.run(self._undo_everything())

    def _strays(self) -> list[str]:
        folders = (self._program.project, self._program.home / "data/blobs")
        return [str(path) for folder in folders for path in folder.rglob(".coder-tui-*")]

    async def _undo_everything(self) -> list[str]:
        """Undo the newest session; only the change that was cut off may fail."""
        setup = setup_in(self._program.home, self._program.project, Mode.EDITS)
        store = await Store.open(setup.directories.database)
        core = SessionFactory(setup, store, ScriptedModel([]), ModelChoice("scripted"))
        latest = await store.sessions.latest(str(self._program.project))
        restored = await core.snapshots.restore(latest.id if latest else "", 0)
        await core.close()
        cut_off = [conflict.path for conflict in restored.conflicts if "program ended" in conflict.reason]
        deepest = max(cut_off, key=lambda path: len(path.parts), default=self._program.project)
        # The folders around that change are not empty, or were being created with it.
        expected = (deepest, *deepest.parents)
        return [str(conflict) for conflict in restored.conflicts if conflict.path not in expected]


def _feed(process: "subprocess.Popen[str]", number: int) -> None:
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError), process.stdin:
            for tool, arguments in calls(number):
                process.stdin.write(json.dumps({"tool": tool, "args": arguments}) + "\n")


def _drain(process: "subprocess.Popen[str]", is_writing: threading.Event) -> None:
    if process.stdout is not None:
        with process.stdout:
            for line in process.stdout:
                if '"operation"' in line or line.startswith("writing"):
                    is_writing.set()


async def work(home: Path, project: Path, number: int) -> None:
    """A session whose model only writes, for as long as it lives."""
    setup = setup_in(home, project, Mode.EDITS)
    store = await Store.open(setup.directories.database)
    replies = [Say(calls=(call,)) for call in calls(number)]
    core = SessionFactory(setup, store, ScriptedModel(replies), ModelChoice("scripted"))
    session = await core.new_session()
    session.subscribe(lambda event: print("writing", flush=True) if "FilesChanged" in repr(event) else None)
    await session.submit("write")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--session", action="store_true", help="with a session, whose changes are then undone"
    )
    parser.add_argument("--worker", nargs=3, metavar=("HOME", "PROJECT", "NUMBER"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        home, project, number = arguments.worker
        asyncio.run(work(Path(home), Path(project), int(number)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        found = Trials(Path(folder), arguments.seed, with_session=arguments.session).run(arguments.kills)
    print(f"{found.kills} kills, {found.in_a_write} of them with a file half written")
    print(f"files neither old nor new: {len(found.mixed)} {found.mixed[:3]}")
    print(f"half-written files after the next start: {len(found.strays)} {found.strays[:3]}")
    print(f"stores damaged, or changes that could not be undone: {len(found.damaged)} {found.damaged[:3]}")
    return 0 if found.is_clean else 1


if __name__ == "__main__":
    raise SystemExit(main())
