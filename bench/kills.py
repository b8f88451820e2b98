"""Kill the program (`kill -9`, the whole group) at random points of busy turns, and check what is left.

    nice -n 15 python -m bench.kills --kills 1000

After each kill the store must open and be complete, every acknowledged message must be in it (on the stream
of `run --format stream-json`, or sent to the model), every acknowledged change on disk, every file one whole
version, and the next start must go on with the session. Most kills hit a process that was forked from a
prepared one, with the core, the printer and a model inside; some hit `coder-tui run` and some the screen in a
pty, both with a model over HTTP.
"""

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import random
import sqlite3
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bench.busy_program import PATIENCE, kill_group, start_run, start_screen, work
from bench.busy_work import BusyModel, prepare, reply, versions
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import StorageError
from coder_tui.storage.store import Store, StoredSession
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import Program
from tests.fakes.real_tools import setup_in

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["bench.busy_program"])
ROUND = 20
"""Kills of one store; then another begins, so that sessions stay short."""
LATEST = 0.8
LATEST_EVENT = 120
NEVER = 10_000
"""Steps after which a turn would end, if there is only one."""


@dataclass
class Found:
    kills: Counter[str] = field(default_factory=Counter)
    moments: Counter[str] = field(default_factory=Counter)
    """The last event before a kill."""
    acknowledged: int = 0
    tools: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    halves: list[str] = field(default_factory=list)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_clean(self) -> bool:
        return not (self.lost or self.damaged or self.halves)

    def add(self, other: "Found") -> None:
        with self._guard:
            self.kills += other.kills
            self.moments += other.moments
            self.tools += other.tools
            self.acknowledged += other.acknowledged
            self.lost += other.lost
            self.damaged += other.damaged
            self.halves += other.halves


@dataclass
class Acknowledged:
    """What a program had acknowledged before it was killed."""

    users: dict[str, str] = field(default_factory=dict)
    replies: dict[str, str] = field(default_factory=dict)
    results: dict[str, str] = field(default_factory=dict)
    last: str = "start"
    count: int = 0

    def read(self, event: dict[str, Any]) -> None:
        self.last = event["type"]
        self.count += 1
        match event["type"]:
            case "user_message_added":
                self.users[event["message_id"]] = event["text"]
            case "message_finished":
                self.replies[event["message_id"]] = event["text"]
            case "tool_finished":
                self.results[event["call_id"]] = f"{event['tool']} {event['outcome']}"
            case _:
                pass

    @property
    def size(self) -> int:
        return len(self.users) + len(self.replies) + len(self.results)

    def add(self, other: "Acknowledged") -> None:
        self.users |= other.users
        self.replies |= other.replies
        self.results |= other.results

    @property
    def has_begun(self) -> bool:
        return bool(self.users)

    def missing(self, stored: StoredSession) -> list[str]:
        """List what was acknowledged and is missing."""
        said = {message.id: message.text for message in stored.messages if message.role != "tool"}
        results = {message.call_id for message in stored.messages if message.role == "tool"}
        words = self.users | self.replies
        gone = [f"message {each}" for each, text in words.items() if said.get(each) != text]
        return gone + [f"result of {call}" for call in self.results if call not in results]


@dataclass
class Trial:
    """One store and one folder that are killed again and again."""

    folder: Path
    seed: int
    found: Found = field(default_factory=Found)
    acknowledged: "Acknowledged" = field(default_factory=lambda: Acknowledged())
    """Everything since the first kill: what is there once stays there."""

    def __post_init__(self) -> None:
        self.program = Program.in_folder(self.folder)
        self.choice = random.Random(self.seed)
        prepare(self.program.project)

    def run(self, kills: int, http: float, screen: float) -> Found:
        for number in range(kills):
            share = self.choice.random()
            front = "run" if share < http else "screen" if share < http + screen else "core"
            before = versions(self.program.project)
            acknowledged = self._kill_core(number) if front == "core" else self._kill_served(front, number)
            self.found.kills[front] += 1
            self.found.moments[f"{front}: {acknowledged.last}"] += 1
            self.found.acknowledged += self._add(acknowledged)
            self._look(before, f"seed {self.seed} kill {number} ({front})")
        return self.found

    def _add(self, acknowledged: "Acknowledged") -> int:
        """Return how many were acknowledged for the first time."""
        known = self.acknowledged.size
        self.found.tools.update(
            acknowledged.results[call]
            for call in acknowledged.results.keys() - self.acknowledged.results.keys()
        )
        self.acknowledged.add(acknowledged)
        return self.acknowledged.size - known

    @property
    def _environment(self) -> dict[str, str]:
        names = ("DATA", "CONFIG", "CACHE")
        folders = {f"CODER_TUI_{name}_DIR": str(self.program.home / name.lower()) for name in names}
        return self.program.environment | folders | {"PYTHONPATH": str(Path(__file__).parents[1])}

    def _kill_core(self, number: int) -> Acknowledged:
        here, there = multiprocessing.Pipe(duplex=False)
        arguments = (self.program.home, self.program.project, self.seed * 1_000 + number, there)
        process = FORKS.Process(target=work, args=arguments, daemon=True)
        process.start()
        there.close()
        acknowledged = Acknowledged()
        self._listen(here, acknowledged)
        kill_group(process.pid or 0)
        with contextlib.suppress(EOFError, OSError):
            while True:
                acknowledged.read(json.loads(here.recv_bytes()))
        here.close()
        process.join()
        return acknowledged

    def _listen(self, pipe: Connection, acknowledged: Acknowledged) -> None:
        """Wait until the program should die: by time, by what it printed, or while it starts."""
        if self.choice.random() < 0.1:
            time.sleep(self.choice.uniform(0, 0.3))
            return
        most = self.choice.randrange(1, LATEST_EVENT) if self.choice.random() < 0.5 else None
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and (most is None or acknowledged.count < most):
            had_begun = acknowledged.has_begun
            if not pipe.poll(max(0.0, end - time.monotonic())):
                break
            try:
                acknowledged.read(json.loads(pipe.recv_bytes()))
            except EOFError:
                self.found.damaged.append(f"seed {self.seed}: the program ended by itself")
                return
            if not had_begun and acknowledged.has_begun and most is None:
                end = time.monotonic() + self.choice.uniform(0, LATEST)
        if not acknowledged.has_begun and most is None:
            self.found.damaged.append(f"seed {self.seed}: the program does not go on")

    def _kill_served(self, front: str, number: int) -> Acknowledged:
        model = BusyModel(self.program.project, self.seed * 1_000 + number, NEVER)
        asked = threading.Event()
        acknowledged = Acknowledged()

        def answer(request: dict[str, object]) -> Any:
            asked.set()
            _note_request(acknowledged, request)
            return reply(model.next())

        with OpenAIServer(answer) as server:
            flags = ["--model", "openai/x", "--api-base", server.url, "--permission", "auto"]
            flags += ["--continue"] if self._has_session() else []
            start = start_run if front == "run" else start_screen
            pid, end = start(self.program, self._environment, flags, acknowledged.read)
            if not asked.wait(PATIENCE):
                self.found.damaged.append(f"seed {self.seed}: {front} does not go on")
            time.sleep(self.choice.uniform(0, 3 * LATEST))
            kill_group(pid)
            end()
        return acknowledged

    def _has_session(self) -> bool:
        path = self.program.home / "data" / "sessions.db"
        if not path.exists():
            return False
        with contextlib.closing(sqlite3.connect(path)) as connection:
            has = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'sessions'").fetchone()
            return has == (1,) and bool(connection.execute("SELECT 1 FROM sessions").fetchone())

    def _look(self, before: dict[str, int | None], where: str) -> None:
        after = versions(self.program.project)
        for name, version in after.items():
            if version is None or version < (before[name] or 0):
                self.found.halves.append(f"{where}: {name} {before[name]} {version}")
        try:
            missing = asyncio.run(self._missing())
        except (StorageError, sqlite3.Error) as error:
            self.found.damaged.append(f"{where}: {error}")
            return
        self.found.lost += [f"{where}: {each}" for each in missing]

    async def _missing(self) -> list[str]:
        setup = setup_in(self.program.home, self.program.project, Mode.AUTO)
        store = await Store.open(setup.directories.database)
        try:
            latest = await store.sessions.latest(str(self.program.project))
            if latest is None:
                return ["the session"] if self.acknowledged.users else []
            missing = self.acknowledged.missing(await store.load(latest.id))
            with contextlib.closing(sqlite3.connect(setup.directories.database)) as connection:
                verdict = connection.execute("PRAGMA integrity_check").fetchone()
            return missing if verdict == ("ok",) else [*missing, f"integrity: {verdict}"]
        finally:
            await store.close()


def _note_request(acknowledged: Acknowledged, request: dict[str, object]) -> None:
    """Record a request: what a model gets was stored before."""
    messages: Any = request["messages"]
    acknowledged.results |= {each["tool_call_id"]: "sent" for each in messages if each["role"] == "tool"}
    acknowledged.last = "request"
    acknowledged.count += 1


def sweep(
    kills: int, seed: int, *, http: float, screen: float, parallel: int, tell: Callable[[str], None]
) -> Found:
    found = Found()

    def one(place: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            trial = Trial(Path(folder), seed + place)
            found.add(trial.run(min(ROUND, kills - place * ROUND), http, screen))
        tell(f"{found.kills.total()} kills, {found.acknowledged} acknowledged, clean: {found.is_clean}")

    with ThreadPoolExecutor(parallel) as pool:
        list(pool.map(one, range((kills + ROUND - 1) // ROUND)))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parallel", type=int, default=2)
    parser.add_argument("--http", type=float, default=0.05, help="share of kills of `coder-tui run`")
    parser.add_argument("--screen", type=float, default=0.03, help="share of kills of the screen")
    options = parser.parse_args()
    began = time.monotonic()
    found = sweep(
        options.kills,
        options.seed,
        http=options.http,
        screen=options.screen,
        parallel=options.parallel,
        tell=lambda words: print(words, flush=True),
    )
    seconds = time.monotonic() - began
    print(f"{found.kills.total()} kills in {seconds:.0f} s: {dict(found.kills)}")
    print(f"acknowledged: {found.acknowledged}; calls: {dict(found.tools)}")
    print(f"last word before the kill: {dict(found.moments.most_common(12))}")
    print(f"acknowledged messages lost: {len(found.lost)} {found.lost[:3]}")
    print(f"stores that do not open, sessions that do not go on: {len(found.damaged)} {found.damaged[:3]}")
    print(f"half-written files: {len(found.halves)} {found.halves[:3]}")
    return 0 if found.is_clean else 1


if __name__ == "__main__":
    raise SystemExit(main())
