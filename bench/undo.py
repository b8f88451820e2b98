"""Measure what undo costs in a folder of many files, and check that random histories end exactly.

    python -m bench.undo --files 10000 --sequences 1000

Costs are shown next to `git status` of the same folder in one run. A sequence mixes edits by tools, commands,
edits by the user (also while a command runs), undos and redos, in folders with and without git; each undo
must bring back every file that only the agent changed, with modes of folders, and leave and name every file
that the user has changed since. A survey of an unchanged folder that takes longer than `--most-ms` fails.
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

from bench.undo_model import COMMANDS, NAMES, Edge, States, by_hand, check, edges_between, states_of
from coder_tui.protocol.access import Mode
from coder_tui.shell.sandbox.sandbox import NOT_LOOKED_FOR
from coder_tui.storage.blobs import BlobStore
from coder_tui.storage.manifest import Change
from coder_tui.storage.store import Store
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.git.git import Git, GitObjects, ReadOnly
from coder_tui.workspace.undo.command_snapshots import CommandSnapshots
from coder_tui.workspace.undo.snapshots import Restored, SnapshotStore
from coder_tui.workspace.undo.tree_copies import Baseline, TreeCopies
from coder_tui.workspace.undo.tree_survey import SurveyLimits

T = TypeVar("T")


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
        info = await store.sessions.create(str(root), "m", Mode.ASK)
        blobs = BlobStore(folder / "data" / "blobs")
        copies = TreeCopies(folder / "copies", (root,), SurveyLimits())
        objects = GitObjects(Git(Workspace(root), ReadOnly(NOT_LOOKED_FOR)), root)
        commands = CommandSnapshots(store.command_records, blobs, copies, objects, root)
        return cls(root, info.id, store, commands, SnapshotStore(store.changes, blobs))

    async def noted(self, turn: int, before: Baseline) -> tuple[Change, ...]:
        number = await self.commands.begin(self.session, turn, before)
        return await self.commands.end(self.session, turn, f"c{turn}", number, before)


def run(root: Path, command: str) -> None:
    subprocess.run(["/bin/sh", "-c", command], cwd=root, check=False, capture_output=True)


@dataclass
class History:
    """What a sequence expects, and what the user wrote while commands ran."""

    edges: list[Edge] = field(default_factory=list)
    live: list[int] = field(default_factory=list)
    undone: list[int] = field(default_factory=list)
    saved: dict[int, set[bytes]] = field(default_factory=dict)
    turn: int = 0
    conflicts: int = 0
    moves: int = 0
    exported: int = 0


async def sequence(folder: Path, seed: int) -> History:
    """Play one history; fail if an undo or a redo is not exact or loses what the user wrote."""
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
        by_command_and_others,
        by_tool,
        by_user,
        undo,
        undo,
        redo,
    )
    for _ in range(choice.randrange(4, 14)):
        await choice.choice(steps)(bench, history, choice)
    await bench.store.close()
    return history


def _words(choice: random.Random) -> str:
    return " ; ".join(
        choice.choice(COMMANDS).format(
            n=choice.randrange(1000), a=choice.choice(NAMES), b=choice.choice(NAMES), m=choice.choice("04")
        )
        for _ in range(choice.randrange(1, 4))
    )


async def by_command(bench: Bench, history: History, choice: random.Random) -> None:
    now = _begin(bench, history)
    before = await bench.commands.before(trusts_git=True)
    await asyncio.to_thread(run, bench.root, _words(choice))
    await bench.noted(history.turn, before)
    history.edges += edges_between(now, states_of(bench.root), history.turn)


async def by_command_and_others(bench: Bench, history: History, choice: random.Random) -> None:
    """While a command runs, a tool of the same turn and the user change files."""
    now = _begin(bench, history)
    before = await bench.commands.before(trusts_git=True)
    await asyncio.to_thread(run, bench.root, _words(choice))
    for other in choice.sample((_edit, _save), 2):
        await other(bench, history, choice)
    if choice.random() < 0.5:
        await asyncio.to_thread(run, bench.root, _words(choice))
    await bench.noted(history.turn, before)
    history.edges += edges_between(now, states_of(bench.root), history.turn)


async def by_tool(bench: Bench, history: History, choice: random.Random) -> None:
    now = _begin(bench, history)
    await _edit(bench, history, choice)
    history.edges += edges_between(now, states_of(bench.root), history.turn)


async def _edit(bench: Bench, history: History, choice: random.Random) -> None:
    path = bench.root / choice.choice(NAMES)
    if not path.parent.is_symlink() and (not path.exists() or path.is_file()) and not path.is_symlink():
        kept = await bench.snapshots.before_change(bench.session, history.turn, f"t{history.turn}", [path])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"tool {history.turn} {choice.random()}\n")
        await bench.snapshots.after_change(bench.session, kept)


async def _save(bench: Bench, history: History, choice: random.Random) -> None:
    path = by_hand(bench.root, choice, history.edges)
    if path is not None:
        history.saved.setdefault(history.turn, set()).add(path.read_bytes())


async def by_user(bench: Bench, history: History, choice: random.Random) -> None:
    by_hand(bench.root, choice, history.edges)


async def undo(bench: Bench, history: History, choice: random.Random) -> None:
    if not history.live:
        return
    turn = history.live.pop()
    now = states_of(bench.root)
    restored = await bench.snapshots.restore(bench.session, turn)
    history.undone.append(turn)
    edges = [edge for edge in history.edges if edge.turn >= turn and not edge.is_undone]
    done = _check(bench, history, now, restored, edges, is_undo=True)
    await _check_saved(bench, history, done)


async def redo(bench: Bench, history: History, choice: random.Random) -> None:
    if not history.undone:
        return
    turn = history.undone.pop()
    now = states_of(bench.root)
    restored = await bench.snapshots.redo(bench.session, turn, last=turn)
    history.live.append(turn)
    edges = [edge for edge in history.edges if edge.turn == turn and edge.is_undone]
    _check(bench, history, now, restored, edges, is_undo=False)


def _begin(bench: Bench, history: History) -> States:
    history.turn += 1
    history.live.append(history.turn)
    history.undone.clear()
    history.edges = [edge for edge in history.edges if not edge.is_undone]
    return states_of(bench.root)


def _check(
    bench: Bench, history: History, now: States, restored: Restored, edges: list[Edge], *, is_undo: bool
) -> list[Edge]:
    refused = {str(conflict.path.relative_to(bench.root)) for conflict in restored.conflicts}
    history.moves += 1
    history.conflicts += bool(refused)
    return check(edges, now, states_of(bench.root), refused, is_undo=is_undo)


async def _check_saved(bench: Bench, history: History, done: list[Edge]) -> None:
    """Check that what the user saved while a command ran, and an undo removed, can be exported."""
    lost = {
        edge.after[1]
        for edge in done
        if edge.after is not None and edge.after[1] in history.saved.get(edge.turn, ())
    }
    if not lost:
        return
    folder = bench.root.parent / "undone"
    found = await bench.snapshots.export_undone(bench.session, 1, bench.root, folder)
    kept = {(folder / name).read_bytes() for name in found.names}
    assert lost <= kept, (lost - kept, "what the user saved was lost")
    history.exported += len(lost)


async def cost(folder: Path, count: int, most_ms: int, *, with_git: bool) -> None:
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
    slowest = max(again, looking) * 1000
    if slowest > most_ms:
        raise SystemExit(f"a look at an unchanged folder took {slowest:.0f} ms, at most {most_ms}")


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
    parser.add_argument("--most-ms", type=int, default=1_000, help="for a look at the unchanged folder")
    parser.add_argument("--sequences", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for with_git in (True, False):
        if options.files:
            with tempfile.TemporaryDirectory() as folder:
                asyncio.run(cost(Path(folder), options.files, options.most_ms, with_git=with_git))
    moves = conflicts = exported = 0
    for seed in range(options.seed, options.seed + options.sequences):
        with tempfile.TemporaryDirectory() as folder:
            try:
                played = asyncio.run(sequence(Path(folder).resolve(), seed))
            except AssertionError as error:
                raise SystemExit(f"seed {seed}: {error}") from error
        moves, conflicts = moves + played.moves, conflicts + played.conflicts
        exported += played.exported
    if options.sequences >= 100 and not (conflicts and exported):
        raise SystemExit("no conflict, or no save during a command, ever came up: nothing was tried")
    summary = f"{moves} undos and redos, {conflicts} with a conflict shown, all exact"
    print(f"{options.sequences} sequences: {summary}; {exported} saves during commands exported again")


if __name__ == "__main__":
    main()
