"""Check diffs against their files and git, and time the first paint of a long one next to an empty one.

uv run python -m bench.diff_view [--pairs 10000] [--git 300] [--lines 10000] [--rounds 7]
"""

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual.app import App, ComposeResult

from coder_tui.diffs.compare import compare
from coder_tui.diffs.hunks import patch, split_hunk, undo_hunks
from coder_tui.diffs.rows import Row, lay_out, split_rows
from coder_tui.diffs.unified import parse_unified, unified_diff
from coder_tui.protocol.comparison import Comparison
from coder_tui.ui.diff.view import DiffView
from tests.diffs.git import diff_by_git, undone_by_git
from tests.diffs.texts import random_edit, random_text
from tests.fakes.whole_comparison import completed

PAINT_LIMIT = 0.2
STALL_LIMIT = 0.05
SIZE = (160, 50)
KEYS = (
    *["pagedown"] * 10,
    *["right_square_bracket"] * 10,
    *("end", "vertical_line", "w", "home", "plus", "minus"),
)


def random_pair(chance: random.Random) -> tuple[str, str]:
    old = random_text(chance)
    return old, random_edit(chance, old) if chance.random() < 0.8 else random_text(chance)


def sides(rows: Sequence[Row]) -> tuple[str, str]:
    old = "".join(row.old.line for row in rows if row.old)
    return old, "".join(row.new.line for row in rows if row.new)


def ids(comparison: Comparison) -> list[str]:
    return [hunk.id for hunk in comparison.hunks]


def wrong_pairs(count: int) -> int:
    """Count pairs whose rows, or whose undone hunks, do not give both files back."""
    chance = random.Random(1)
    wrong = 0
    for number in range(count):
        old, new = random_pair(chance)
        comparison = compare(old, new)
        split = [row for section in comparison.sections for row in split_rows(section)]
        unified = [row for piece in lay_out(comparison, None, is_split=False) for row in piece.rows()]
        for _ in range(number % 3):
            for id in ids(comparison):
                comparison = split_hunk(comparison, id)
        undone = undo_hunks(comparison, ids(comparison)), undo_hunks(comparison, [])
        wrong += {sides(split), sides(unified), undone} != {(old, new)}
    return wrong


def wrong_hunks(count: int, folder: Path) -> tuple[int, int]:
    """Return how many rejections were compared with git's, and how many differ."""
    chance = random.Random(2)
    compared = wrong = 0
    while compared < count:
        old, new = random_pair(chance)
        ours = compare(old, new)
        for _ in range(compared % 3):
            for id in ids(ours):
                ours = split_hunk(ours, id)
        if some := [id for id in ids(ours) if chance.random() < 0.5]:
            compared += 1
            wrong += undo_hunks(ours, some) != undone_by_git(folder, new, patch(ours, some))
        diff = diff_by_git(folder, old, new)
        for number, piece in enumerate(f"\n{diff}".split("\n@@ ")[1:]):
            theirs = completed(parse_unified(diff)[0], new)
            undone = undone_by_git(folder, new, "@@ " + piece.removesuffix("\n") + "\n")
            compared += 1
            wrong += undo_hunks(theirs, [theirs.hunks[number].id]) != undone
    return compared, wrong


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds by the clock, and those in which the screen's thread worked: the clock counts others, too."""

    clock: float
    work: float

    def __str__(self) -> str:
        return f"{self.clock * 1000:.0f} ms (work {self.work * 1000:.0f})"


def now() -> Spent:
    return Spent(time.perf_counter(), time.thread_time())


def since(started: Spent) -> Spent:
    return Spent(time.perf_counter() - started.clock, time.thread_time() - started.work)


class OneDiff(App[None]):
    """Records when the first frame is done, and the longest time in which nothing else could happen."""

    def __init__(self, files: Sequence[Comparison]) -> None:
        super().__init__()
        self.view = DiffView(files)
        self.painted = asyncio.Event()
        self.longest_stall = Spent(0.0, 0.0)

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        self.run_worker(self._watch())
        self.call_after_refresh(self.painted.set)

    async def _watch(self) -> None:
        while True:
            before = now()
            await asyncio.sleep(0.001)
            self.longest_stall = max(self.longest_stall, since(before), key=lambda spent: spent.work)


async def first_paint(files: Sequence[Comparison]) -> Spent:
    started = now()
    app = OneDiff(files)
    async with app.run_test(size=SIZE):
        await app.painted.wait()
        return since(started)


async def longest_stall(files: Sequence[Comparison]) -> Spent:
    """Measure while colors are made, pages turned, hunks visited and the layout changed."""
    app = OneDiff([])
    async with app.run_test(size=SIZE) as pilot:
        await app.painted.wait()
        app.longest_stall = Spent(0.0, 0.0)
        app.view.show(files)
        app.view.focus()
        await pilot.pause()
        for key in [
            *["pagedown"] * 10,
            *["right_square_bracket"] * 10,
            "end",
            "vertical_line",
            "w",
            "home",
            "plus",
        ]:
            await pilot.press(key)
            await pilot.pause()
        return app.longest_stall


def median(measure: Callable[[], Spent], rounds: int) -> Spent:
    found = [measure() for _ in range(rounds)]
    return Spent(
        statistics.median(each.clock for each in found), statistics.median(each.work for each in found)
    )


def timed(work: Callable[[], object]) -> Spent:
    started = now()
    work()
    return since(started)


def samples(lines: int) -> dict[str, tuple[str, str]]:
    """Yield one long change, very many small ones, and a new file."""
    old = "".join(f"    value_{n} = compute(alpha, {n})  # step {n}\n" for n in range(lines // 2))
    many = "".join(f"    value_{n} = compute(alpha, {n})\n    use(value_{n})\n" for n in range(lines))
    return {
        "one change": (old, old.replace("compute(alpha", "calculate(beta")),
        "many changes": (many, many.replace("0)\n", "0) + more(1)\n        # and more\n")),
        "new file": ("", many[: len(many) // 2]),
    }


def report(lines: int, rounds: int) -> bool:
    """Print the figures; return whether all are within their limits."""
    empty = median(lambda: asyncio.run(first_paint([])), rounds)
    stall = median(lambda: asyncio.run(longest_stall([])), rounds)
    print(f"nothing to show: first paint {empty}; longest stall {stall}")
    texts = samples(lines).items()
    verdicts = [_report(name, old, new, empty, rounds) for name, (old, new) in texts]
    return all(verdicts)


def _report(name: str, old: str, new: str, empty: Spent, rounds: int) -> bool:
    diff = unified_diff("f.py", old or None, new).text
    read = median(lambda: timed(lambda: parse_unified(diff)), rounds)
    made = median(lambda: timed(lambda: compare(old, new)), rounds)
    files = parse_unified(diff)
    full = median(lambda: asyncio.run(first_paint(files)), rounds)
    stall = median(lambda: asyncio.run(longest_stall(files)), rounds)
    ratio = full.clock / empty.clock
    print(f"{name}, {files[0].additions + files[0].deletions} changed lines: compared {made}; read {read};")
    print(f"  first paint {full}, {ratio:.2f} x nothing to show; longest stall {stall}")
    return full.work <= PAINT_LIMIT and stall.work <= STALL_LIMIT


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--git", type=int, default=300)
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    wrong = wrong_pairs(options.pairs)
    print(f"{options.pairs} pairs of files: {wrong} not rebuilt")
    with tempfile.TemporaryDirectory() as folder:
        compared, differing = wrong_hunks(options.git, Path(folder))
    print(f"{compared} rejections compared with git apply -R: {differing} differ")
    is_fast = report(options.lines, options.rounds)
    return 0 if is_fast and not wrong and not differing else 1


if __name__ == "__main__":
    sys.exit(main())
