"""Measure how long the screen can freeze: the longest stall of its event loop under bad input.

uv run python -m bench.stalls [--repeat 3] [--only WORDS] [--where]
"""

import argparse
import asyncio
import sys
import threading
import time
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import FrameType

from bench.stall_scenes import SCENES, Scene
from tests.fakes.screens import stage

BEAT = 0.002
LIMIT = 0.1
_DEPTH = 14


class Watcher:
    """A beat on the loop: how late it came at worst, and how long the loop itself worked between two.

    On a busy machine the first says little, since the process may not have been running at all.
    """

    def __init__(self, *, looks: bool) -> None:
        self.longest = 0.0
        self.worked = 0.0
        self.where = ""
        self._beaten = time.perf_counter()
        self._is_over = threading.Event()
        self._loop_thread = threading.get_ident()
        self._looks = looks

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        beating = asyncio.create_task(self._beat())
        await asyncio.sleep(0)  # its clock runs before anything is done
        looking = threading.Thread(target=self._look, daemon=True)
        if self._looks:
            looking.start()
        try:
            yield
        finally:
            self._is_over.set()
            await beating

    async def _beat(self) -> None:
        while not self._is_over.is_set():
            before, used = time.perf_counter(), time.thread_time()
            await asyncio.sleep(BEAT)
            self.worked = max(self.worked, time.thread_time() - used)
            self._beaten = time.perf_counter()
            self.longest = max(self.longest, self._beaten - before - BEAT)

    def _look(self) -> None:
        """Record the stack of the longest stall, taken from another thread."""
        worst = LIMIT / 2
        while not self._is_over.wait(0.01):
            late = time.perf_counter() - self._beaten
            frame = sys._current_frames().get(self._loop_thread)
            if late > worst and frame is not None:
                worst, self.where = late, _own_lines(frame)


def _own_lines(frame: FrameType) -> str:
    lines = [f"{entry.name} ({entry.filename.rpartition('/')[2]}:{entry.lineno})" for entry in _stack(frame)]
    return " > ".join(lines[-_DEPTH:])


def _stack(frame: FrameType) -> traceback.StackSummary:
    return traceback.extract_stack(frame)


async def measure(scene: Scene, *, looks: bool) -> Watcher:
    async with stage(size=scene.size) as running:
        await scene.prepare(running)
        await running.pilot.pause(0.1)
        watcher = Watcher(looks=looks)
        async with watcher.watching():
            await scene.act(running)
            await running.pilot.pause(0.2)
        return watcher


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3, help="the best of so many runs counts")
    parser.add_argument("--only", default="", help="scenes whose name holds these words")
    parser.add_argument("--where", action="store_true", help="print what ran during the longest stall")
    options = parser.parse_args()
    for scene in SCENES:
        if options.only not in scene.name:
            continue
        runs = [asyncio.run(measure(scene, looks=options.where)) for _ in range(options.repeat)]
        best = min(runs, key=lambda run: run.worked)
        mark = "OVER" if best.worked > LIMIT else "    "
        figures = f"{best.worked * 1000:7.0f} ms worked {best.longest * 1000:7.0f} ms late"
        print(f"{mark} {figures}  {scene.name}", flush=True)
        if options.where and best.where:
            print(f"       {best.where}")


if __name__ == "__main__":
    main()
