"""A long session: does it need more memory, more disk or more time for each turn as it grows?

    python -m bench.soak --turns 2000
    python -m bench.soak --turns 2000 --screen

The core works through turns of text, edits, patches, commands and todo lists with a scripted model; with
`--screen` the program's own screen shows them as they happen. Memory is what the process holds after a
collection; turns are compared in groups of a tenth. Processor time says more than the clock on a
machine that does other things besides.
"""

import argparse
import asyncio
import gc
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from bench.busy_work import BusyClient, BusyModel, prepare
from bench.terminal import resident_mb
from coder_tui.agent.session import Session
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.protocol.access import Mode
from coder_tui.protocol.events import Event, TurnFailed, TurnFinished
from coder_tui.storage.store import Store
from tests.fakes.program import COMMANDS_RUN
from tests.fakes.real_tools import setup_in

STEPS_PER_TURN = 4
MOST_GROWTH = 0.2
MOST_CPU = 1.5
MOST_STORED = 1.3
"""How much longer a turn of the last tenth may take than one of the second, when everything is warm."""
WINDOW = 128_000
"""The context window of the scripted model, like many models': older turns are summarized."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The state after a turn."""

    turn: int
    memory_mb: float
    store_kb: float
    kept_kb: float
    """Bytes of file copies for undo."""
    cpu_ms: float
    """Processor time of a turn, the median since the previous sample."""


def size_kb(*folders: Path) -> float:
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in files) / 1024


@dataclass
class Soak:
    home: Path
    session: Session
    times: list[tuple[float, float]]
    """The time of each turn: by the clock, and of the processor."""
    samples: list[Sample]

    async def run(self, turns: int) -> None:
        outcomes: list[Event] = []
        self.session.subscribe(
            lambda event: outcomes.append(event) if isinstance(event, TurnFinished | TurnFailed) else None
        )
        for turn in range(1, turns + 1):
            began, worked = time.perf_counter(), time.process_time()
            await self.session.submit(f"turn {turn}")
            self.times.append((time.perf_counter() - began, time.process_time() - worked))
            end = outcomes.pop()
            if not isinstance(end, TurnFinished):
                raise SystemExit(f"turn {turn}: {end}")
            if turn % max(1, turns // 10) == 0:
                self._sample(turn)

    def _sample(self, turn: int) -> None:
        gc.collect()
        store = [path for path in (self.home / "data").glob("*.db*") if not path.name.endswith("-shm")]
        database = sum(path.stat().st_size for path in store) / 1024
        kept = size_kb(self.home / "data" / "blobs", self.home / "cache")
        known = self.samples[-1].turn if self.samples else 0
        clock, worked = (statistics.median(part) * 1000 for part in zip(*self.times[known:], strict=True))
        sample = Sample(turn, resident_mb(os.getpid()), database, kept, worked)
        if not self.samples:
            print(f"{'turn':>6} {'memory':>9} {'store':>10} {'copies':>10} {'turn p50':>9} {'its CPU':>9}")
        print(
            f"{turn:>6} {sample.memory_mb:>6.1f} MB {sample.store_kb:>7.0f} KB "
            f"{sample.kept_kb:>7.0f} KB {clock:>6.1f} ms {worked:>6.1f} ms",
            flush=True,
        )
        self.samples.append(sample)


def is_flat(samples: Sequence[Sample]) -> bool:
    """Print memory, store and processor time; return whether they stay as they were."""
    first, second, before, last = samples[0], samples[1], samples[-2], samples[-1]
    growth = last.memory_mb / first.memory_mb - 1
    early = (second.store_kb - first.store_kb) / (second.turn - first.turn)
    late = (last.store_kb - before.store_kb) / (last.turn - before.turn)
    print(f"memory from turn {first.turn} to {last.turn}: {growth:+.1%} (at most {MOST_GROWTH:.0%})")
    print(f"store for each turn: {early:.1f} KB early, {late:.1f} KB late (at most {MOST_STORED}×)")
    print(f"CPU of a turn: {second.cpu_ms:.1f} ms early, {last.cpu_ms:.1f} ms late (at most {MOST_CPU}×)")
    is_stored_flat = late <= early * MOST_STORED
    return growth < MOST_GROWTH and is_stored_flat and last.cpu_ms <= second.cpu_ms * MOST_CPU


@asynccontextmanager
async def soaking(folder: Path, seed: int) -> AsyncIterator[Soak]:
    home, project = folder / "home", folder / "project"
    project.mkdir(parents=True)
    prepare(project)
    setup = setup_in(home, project, Mode.AUTO, **COMMANDS_RUN)
    store = await Store.open(setup.directories.database)
    client = BusyClient(BusyModel(project, seed, STEPS_PER_TURN, ("small.txt",)))
    core = SessionFactory(setup, store, client, ModelChoice("scripted"))
    session = await core.new_session()
    session.set_context_window(WINDOW)
    try:
        yield Soak(home, session, [], [])
    finally:
        await session.close()
        await core.close()


@asynccontextmanager
async def shown(project: Path, session: Session) -> AsyncIterator[None]:
    """The screen of the program, around a session that continues."""
    from coder_tui.ui.app import CoderApp
    from coder_tui.ui.launch import Launch

    async def open_session() -> Session:
        return session

    app = CoderApp(Launch(project, "coder-dark", False, open_session))
    async with app.run_test(size=(100, 30)) as pilot:
        while app.session_screen.widgets.sender.session is None:
            await pilot.pause(0.01)
        yield


async def soak(folder: Path, turns: int, seed: int, *, with_screen: bool) -> bool:
    async with soaking(folder, seed) as made:
        async with shown(folder / "project", made.session) if with_screen else nullcontext():
            await made.run(turns)
            has_stayed = is_flat(made.samples)
            for move in (made.session.turns.undo, made.session.turns.redo):
                began = time.process_time()
                await move()
                spent = (time.process_time() - began) * 1000
                print(f"{move.__name__} of the newest turn: {spent:.0f} ms of CPU")
        return has_stayed


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--screen", action="store_true", help="with the screen drawing all of it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        has_stayed = asyncio.run(soak(folder, options.turns, options.seed, with_screen=options.screen))
    return 0 if has_stayed else 1


if __name__ == "__main__":
    raise SystemExit(main())
