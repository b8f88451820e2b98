"""Swap folders and files for links while the tools work: nothing outside may be read or changed.

uv run python -m bench.path_races [--trials 10000] [--seed 1] [--step-by-step]
"""

import argparse
import asyncio
import contextlib
import itertools
import os
import random
import shutil
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from coder_tui.protocol.access import Mode
from coder_tui.workspace.files import confine
from tests.fakes.real_tools import RealTools, setup_in

SECRET = "MARKER-OF-WHAT-LIES-OUTSIDE"
OLD, NEW = "inside old\n", "inside new\n"


@dataclass
class Found:
    trials: int = 0
    swaps: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    escapes: list[str] = field(default_factory=list)


class Swapper:
    """Exchanges the real paths and the links that lead out, as fast as possible, until it is stopped."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._swap)
        self.swaps = 0

    def __enter__(self) -> "Swapper":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _swap(self) -> None:
        root, out = self._base / "ws", self._base / "out"
        for number in itertools.count():
            if self._is_over.is_set():
                return
            name, target = (("sub", out), ("file.txt", out / "file.txt"))[number % 2]
            self._replace_by_link(root / name, target)
            self.swaps += 1

    def _replace_by_link(self, real: Path, target: Path) -> None:
        aside = self._base / "aside"
        real.rename(aside)
        # The tools may have put something of their own there; that is inside, and is removed.
        with contextlib.suppress(FileExistsError):
            real.symlink_to(target)
            time.sleep(0)
        while os.path.lexists(real):
            if real.is_dir() and not real.is_symlink():
                shutil.rmtree(real, ignore_errors=True)
            else:
                real.unlink(missing_ok=True)
        # They may still be faster: then theirs stays, and what was set aside is removed.
        with contextlib.suppress(OSError):
            aside.rename(real)
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(aside) if aside.is_dir() else aside.unlink()


class Trials:
    def __init__(self, base: Path, seed: int) -> None:
        self._base = base
        self._random = random.Random(seed)
        self.found = Found()
        for folder in ("ws/sub", "out"):
            (base / folder).mkdir(parents=True)
        for path in ("ws/file.txt", "ws/sub/file.txt"):
            (base / path).write_text(OLD)
        (base / "out/file.txt").write_text(f"{SECRET} inside old\n")
        self._tools = RealTools(setup_in(base, base / "ws", Mode.EDITS))

    async def run(self, trials: int) -> Found:
        with Swapper(self._base) as swapper:
            for number in range(trials):
                await self._try(number)
                self._look_outside(number)
            self.found.swaps = swapper.swaps
        return self.found

    async def _try(self, number: int) -> None:
        tool, arguments = self._call(number)
        result = await self._tools.call(tool, **arguments)
        self.found.trials += 1
        self.found.outcomes["ok" if result["ok"] else str(result["error"]["type"])] += 1
        if SECRET in str(result):
            self.found.escapes.append(f"{number}: {tool} {arguments} returned {result}")

    def _call(self, number: int) -> tuple[str, dict[str, str]]:
        path = self._random.choice(["file.txt", "sub/file.txt"])
        match self._random.randrange(7):
            case 0:
                return "read", {"path": path}
            case 1:
                return "list", {"path": "sub"}
            case 2:
                return "write", {"path": f"sub/new-{number}.txt", "content": NEW}
            case 3:
                return "write", {"path": f"sub/deep-{number}/new.txt", "content": NEW}
            case 4:
                return "mkdir", {"path": f"sub/made-{number}/deep"}
            case 5:
                return "grep", {"path": "sub", "pattern": "inside"}
            case _:
                old, new = self._random.sample(["inside old", "inside new"], 2)
                return "edit", {"path": path, "old_string": old, "new_string": new}

    def _look_outside(self, number: int) -> None:
        names = [entry.name for entry in os.scandir(self._base / "out")]
        content = (self._base / "out/file.txt").read_text() if "file.txt" in names else ""
        if names != ["file.txt"] or content != f"{SECRET} inside old\n":
            self.found.escapes.append(f"{number}: outside there is {names} with {content!r}")
            raise SystemExit(f"escaped: {self.found.escapes[-1]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--step-by-step", action="store_true", help="as on systems without openat2")
    arguments = parser.parse_args()
    is_available = confine.has_openat2() and not arguments.step_by_step
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(confine, "has_openat2", return_value=is_available),
    ):
        began = time.perf_counter()
        found = asyncio.run(Trials(Path(os.path.realpath(folder)), arguments.seed).run(arguments.trials))
        seconds = time.perf_counter() - began
    way = "openat2" if is_available else "step by step"
    print(f"{found.trials} trials in {seconds:.0f} s, {found.swaps} swaps, opened by {way}")
    print(f"outcomes: {dict(found.outcomes)}")
    print(f"escapes: {len(found.escapes)} {found.escapes[:3]}")
    return 1 if found.escapes else 0


if __name__ == "__main__":
    raise SystemExit(main())
