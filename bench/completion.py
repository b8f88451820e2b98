"""`@` completion among very many files: what a key costs, and how long it blocks the event loop.

uv run python -m bench.completion [--files 50000]
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from coder_tui.workspace.search.file_index import FileIndex
from coder_tui.workspace.search.search import Search, search_program

LIMIT_MS = 50.0
WORDS = ("prompt", "transcript", "mod17/", "file_4999", "pkg3/mod", "fle9py", "zzz")
MOST = 50


class Stillness:
    """Records the longest time for which the loop did nothing else, in processor time of this program."""

    def __init__(self) -> None:
        self.worst = 0.0

    async def watch(self) -> None:
        while True:
            before = time.process_time()
            await asyncio.sleep(0.001)
            self.worst = max(self.worst, time.process_time() - before)


def plant(root: Path, files: int) -> None:
    for number in range(files):
        folder = root / f"pkg{number % 50}" / f"mod{number % 1000}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{('file', 'prompt', 'transcript', 'view')[number % 4]}_{number}.py").touch()


async def type_words(index: FileIndex) -> list[float]:
    """Return the processor time of each key, in milliseconds."""
    spent = []
    for word in WORDS:
        for end in range(1, len(word) + 1):
            before = time.process_time()
            await index.suggest(word[:end], MOST)
            spent.append((time.process_time() - before) * 1000)
    return spent


async def measure(root: Path) -> bool:
    index, still = FileIndex(root, Search(search_program())), Stillness()
    watching = asyncio.create_task(still.watch())
    before = time.perf_counter()
    await index.suggest("", MOST)
    print(f"list made in {time.perf_counter() - before:.2f} s, loop still for {still.worst * 1000:.1f} ms")
    still.worst = 0.0
    spent = await type_words(index)
    watching.cancel()
    await index.close()
    worst = max(spent)
    print(
        f"{len(spent)} keys: median {statistics.median(spent):.1f} ms, worst {worst:.1f} (limit {LIMIT_MS})"
    )
    print(f"loop still for {still.worst * 1000:.1f} ms at most")
    return worst <= LIMIT_MS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=50_000)
    files = parser.parse_args().files
    with tempfile.TemporaryDirectory() as folder:
        plant(Path(folder), files)
        return 0 if asyncio.run(measure(Path(folder))) else 1


if __name__ == "__main__":
    raise SystemExit(main())
