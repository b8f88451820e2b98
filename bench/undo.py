"""Undo: what it costs in a folder of many files, and whether random histories end exact.

    python -m bench.undo --files 10000 --sequences 1000

Costs are shown beside `git status` of the same folder in one run. A sequence mixes edits by tools, commands,
edits by a person, undos and redos, in folders with and without git; each undo must bring back every file that
only the agent changed, and leave every file that the person changed since.
"""

import argparse
import asyncio
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from coder_tui.protocol.access import Mode
from coder_tui.shell.sandbox import NOT_LOOKED_FOR
from coder_tui.storage.blobs import BlobStore
from coder_tui.storage.manifest import Change
from coder_tui.storage.sessions import Store
from coder_tui.workspace.command_snapshots import CommandSnapshots
from coder_tui.workspace.confine import Workspace
from coder_tui.workspace.git import Git
from coder_tui.workspace.git_confined import ReadOnly
from coder_tui.workspace.git_objects import GitObjects
from coder_tui.workspace.snapshots import SnapshotStore
from coder_tui.workspace.tree_copies import Baseline, TreeCopies
from coder_tui.workspace.tree_survey import SurveyLimits

NAMES = tuple(
    f"{folder}{name}" for folder in ("", "src/", "src/deep/") for name in ("a.txt", "b.py", "c.bin")
)
COMMANDS = (
    "echo {n} >> {a}",
    "rm -f {a}",
    "mkdir -p $(dirname {a}) && printf '%s' {n} > {a}",
    "[ ! -f {a} ] || mv {a} {b}",
    "[ ! -f {a} ] || chmod 6{m}4 {a}",
    "[ ! -f {a} ] || cp {a} {b}",
    "rm -rf src/deep",
    "[ ! -f {a} ] || ln -sf $(basename {a}) {b}",
)
T = TypeVar("T")
State = tuple[str, bytes, int] | None


@dataclass
class Bench:
    root: Path
    session: str
    store: Store
    commands: CommandSnapshots
    snapshots: SnapshotStore

    @classmethod
    async def make(cls, folder: Path, *, with_git: bool) -> "Bench":
        root = folder / "project"
        root.mkdir()
        if with_git:
            run(root, "git init -q")
        store = await Store.open(folder / "data" / "store.db")
        info = await store.create_session(str(root), "m", Mode.ASK)
        blobs = BlobStore(folder / "data" / "blobs")
        copies = TreeCopies(folder / "copies", (root,), SurveyLimits())
        objects = GitObjects(Git(Workspace(root), ReadOnly(NOT_LOOKED_FOR)), root)
        commands = CommandSnapshots(store, blobs, copies, objects, root)
        return cls(root, info.id, store, commands, SnapshotStore(store, blobs))

    async def noted(self, turn: int, before: Baseline) -> tuple[Change, ...]:
        number = await self.commands.begin(self.session, turn, before)
        return await self.commands.end(self.session, turn, f"c{turn}", number, before)

    def states(self) -> dict[str, State]:
        return {name: look(self.root / name) for name in NAMES}


def run(root: Path, command: str) -> None:
    subprocess.run(["/bin/sh", "-c", command], cwd=root, check=False, capture_output=True)


def look(path: Path) -> State:
    if path.is_symlink():
        return "link", os.fsencode(path.readlink()), 0
    if not path.is_file():
        return None
    return "file", path.read_bytes(), path.stat().st_mode & 0o777


@dataclass
class History:
    """What a sequence expects: how files were before each turn, and who changed them last."""

    before: dict[int, dict[str, State]] = field(default_factory=dict)
    after: dict[int, dict[str, State]] = field(default_factory=dict)
    live: list[int] = field(default_factory=list)
    undone: list[int] = field(default_factory=list)
    turn: int = 0
    conflicts: int = 0
    moves: int = 0


async def sequence(folder: Path, seed: int) -> tuple[int, int]:
    """How many undos and redos were tried, and how many left a conflict; fails where one is not exact."""
    choice = random.Random(seed)
    bench = await Bench.make(folder, with_git=bool(seed % 2))
    for name in NAMES[: choice.randrange(len(NAMES))]:
        (bench.root / name).parent.mkdir(parents=True, exist_ok=True)
        (bench.root / name).write_text(f"first {name}\n")
    if seed % 2:
        run(bench.root, "git add -A && git -c user.name=n -c user.email=e commit -qm x")
    history = History()
    steps: tuple[Callable[[Bench, History, random.Random], Awaitable[None]], ...] = (
        by_command,
        by_command,
        by_tool,
        by_person,
        undo,
        undo,
        redo,
    )
    for _ in range(choice.randrange(4, 14)):
        await choice.choice(steps)(bench, history, choice)
    await bench.store.close()
    return history.moves, history.conflicts


async def by_command(bench: Bench, history: History, choice: random.Random) -> None:
    _begin(bench, history)
    words = " ; ".join(
        choice.choice(COMMANDS).format(
            n=choice.randrange(1000), a=choice.choice(NAMES), b=choice.choice(NAMES), m=choice.choice("04")
        )
        for _ in range(choice.randrange(1, 4))
    )
    before = await bench.commands.before(trusts_git=True)
    await asyncio.to_thread(run, bench.root, words)
    await bench.noted(history.turn, before)
    history.after[history.turn] = bench.states()


async def by_tool(bench: Bench, history: History, choice: random.Random) -> None:
    _begin(bench, history)
    path = bench.root / choice.choice(NAMES)
    if not path.parent.is_symlink() and (not path.exists() or path.is_file()) and not path.is_symlink():
        kept = await bench.snapshots.before_change(bench.session, history.turn, f"t{history.turn}", [path])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"tool {history.turn}\n")
        await bench.snapshots.after_change(bench.session, kept)
    history.after[history.turn] = bench.states()


async def by_person(bench: Bench, history: History, choice: random.Random) -> None:
    path = bench.root / choice.choice(NAMES)
    if path.is_symlink() or path.is_dir():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"person {choice.random()}\n")


async def undo(bench: Bench, history: History, choice: random.Random) -> None:
    if not history.live:
        return
    turn = history.live.pop()
    now = bench.states()
    restored = await bench.snapshots.restore(bench.session, turn)
    history.undone.append(turn)
    _check(history, now, bench.states(), history.after[turn], history.before[turn], len(restored.conflicts))


async def redo(bench: Bench, history: History, choice: random.Random) -> None:
    if not history.undone:
        return
    turn = history.undone.pop()
    now = bench.states()
    restored = await bench.snapshots.redo(bench.session, turn, last=turn)
    history.live.append(turn)
    _check(history, now, bench.states(), history.before[turn], history.after[turn], len(restored.conflicts))


def _begin(bench: Bench, history: History) -> None:
    history.turn += 1
    history.live.append(history.turn)
    history.undone.clear()
    history.before[history.turn] = bench.states()


def _check(
    history: History,
    now: dict[str, State],
    then: dict[str, State],
    expected: dict[str, State],
    wanted: dict[str, State],
    conflicts: int,
) -> None:
    """A file that is as the agent left it goes where it was; any other stays, or there is a conflict."""
    history.moves += 1
    history.conflicts += bool(conflicts)
    for name in NAMES:
        if expected[name] == wanted[name] or now[name] == wanted[name]:
            assert then[name] == now[name], (name, "was touched")
        elif now[name] == expected[name]:
            is_exact = then[name] == wanted[name]
            assert is_exact or (conflicts and then[name] == now[name]), (name, now[name], then[name])
        else:
            assert then[name] == now[name], (name, "the person's work was lost")


async def cost(folder: Path, count: int, *, with_git: bool) -> None:
    bench = await Bench.make(folder, with_git=with_git)
    for number in range(count):
        path = bench.root / f"d{number % 100}" / f"f{number}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(os.urandom(64) * (number % 120 + 1))
    if with_git:
        run(bench.root, "git add -A && git -c user.name=n -c user.email=e commit -qm x")
    floor = timed(lambda: run(bench.root, "git status --short")) if with_git else 0.0
    await asyncio.sleep(0.1)
    first, _ = await clocked(bench.commands.before(trusts_git=True))
    again, before = await clocked(bench.commands.before(trusts_git=True))
    looking, _ = await clocked(bench.noted(1, before))
    _, before = await clocked(bench.commands.before(trusts_git=True))
    run(bench.root, "for d in d1 d2 d3 d4 d5; do for f in $d/*; do echo x >> $f; done; done")
    noting, changes = await clocked(bench.noted(1, before))
    restoring, restored = await clocked(bench.snapshots.restore(bench.session, 1))
    await bench.store.close()
    kind = "git" if with_git else "no git"
    print(f"{count} files, {kind}: git status {floor * 1000:.0f} ms")
    print(f"  before the first command {first * 1000:.0f} ms, before a later one {again * 1000:.0f} ms")
    print(f"  after one that changed nothing {looking * 1000:.0f} ms")
    print(f"  after one that changed {len(changes)} files {noting * 1000:.0f} ms")
    print(f"  undo of {len(restored.paths)} files {restoring * 1000:.0f} ms")


def timed(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


async def clocked(work: Awaitable[T]) -> tuple[float, T]:
    began = time.perf_counter()
    result = await work
    return time.perf_counter() - began, result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--sequences", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for with_git in (True, False):
        if options.files:
            with tempfile.TemporaryDirectory() as folder:
                asyncio.run(cost(Path(folder), options.files, with_git=with_git))
    moves = conflicts = 0
    for seed in range(options.seed, options.seed + options.sequences):
        with tempfile.TemporaryDirectory() as folder:
            moved, refused = asyncio.run(sequence(Path(folder), seed))
        moves, conflicts = moves + moved, conflicts + refused
    told = f"{moves} undos and redos, {conflicts} with a conflict shown, all exact"
    print(f"{options.sequences} sequences: {told}")


if __name__ == "__main__":
    main()
