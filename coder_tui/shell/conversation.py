"""Runs a program that is spoken to: words on its standard input, an answer of bounded size, a time limit."""

import asyncio
import signal
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from coder_tui.shell.command import GRACE, TIMED_OUT, HeadAndTail
from coder_tui.shell.running import Launch, RunningCommand, insist

_GRACE_CANCEL = 0.25
_SIGNALLED = 128


@dataclass(frozen=True, slots=True)
class Answer:
    """`is_cut`: it printed more than was taken; `was_stopped`: it was ended for that."""

    exit_code: int
    stdout: str
    stderr: str
    is_cut: bool = False
    timed_out: bool = False
    was_stopped: bool = False

    @property
    def signal(self) -> str:
        """The name of the signal that ended it, as far as the exit code tells; empty for none."""
        try:
            return signal.Signals(self.exit_code - _SIGNALLED).name if self.exit_code > _SIGNALLED else ""
        except ValueError:
            return ""

    @property
    def ending(self) -> str:
        """How it ended, in words."""
        if self.was_stopped:
            return "printed too much and was stopped"
        if self.timed_out:
            return "took too long and was stopped"
        return f"was ended by {self.signal}" if self.signal else f"ended with exit code {self.exit_code}"


class _Collected:
    """Both streams up to a limit; who prints more is told of by `full`."""

    def __init__(self, limit: int, on_output: Callable[[str], None], *, stops_flood: bool) -> None:
        self._limit = limit
        self._stops_flood = stops_flood
        self._buffers = {"stdout": HeadAndTail(limit), "stderr": HeadAndTail(limit)}
        self._on_output = on_output
        self._size = 0
        self.full = asyncio.Event()

    def take(self, name: str, data: bytes) -> None:
        self._size += len(data)
        if self._size > self._limit and self._stops_flood:
            self.full.set()
        self._buffers[name].add(data)
        if name == "stderr":
            self._on_output(data.decode("utf-8", "replace"))

    def answer(self, exit_code: int, *, timed_out: bool) -> Answer:
        stdout, stderr = self._buffers["stdout"].text(), self._buffers["stderr"].text()
        was_stopped = self.full.is_set()
        is_cut = self._size > self._limit
        return Answer(exit_code, stdout, stderr, is_cut, timed_out and not was_stopped, was_stopped)


def told_to_nobody(text: str) -> None:
    """For programs whose complaints nobody watches live."""


async def converse(
    launch: Launch,
    given: str,
    *,
    directory: Path,
    time_limit: float,
    limit: int,
    on_output: Callable[[str], None] = told_to_nobody,
    stops_flood: bool = True,
) -> Answer:
    """Run to the end. `limit` is in bytes, `on_output` hears what it complains of.

    Who prints more is stopped, unless it is to be heard to its end: then the middle is forgotten.

    Raises OSError when it cannot start. Cancelling ends all of its processes before that goes on.
    """
    with tempfile.TemporaryFile() as file:
        await asyncio.to_thread(_fill, file, given)
        kept = _Collected(limit, on_output, stops_flood=stops_flood)
        return await _run(launch, file.fileno(), kept, directory, time_limit)


def _fill(file: IO[bytes], given: str) -> None:
    file.write(given.encode("utf-8", "replace"))
    file.flush()
    file.seek(0)


async def _run(launch: Launch, given: int, kept: _Collected, directory: Path, time_limit: float) -> Answer:
    command = RunningCommand(kept.take, given)
    await command.start(launch, directory)
    try:
        has_ended = await _first(command, kept.full, time_limit)
        await command.end(GRACE if has_ended else _GRACE_CANCEL)
    except asyncio.CancelledError:
        await insist(command.end(_GRACE_CANCEL))
        raise
    finally:
        command.close()
    code = command.exit_code
    timed_out = not has_ended and not kept.full.is_set()
    return kept.answer(TIMED_OUT if timed_out or code is None else code, timed_out=timed_out)


async def _first(command: RunningCommand, full: asyncio.Event, time_limit: float) -> bool:
    """Whether the command came to its end before its time or its room was up."""
    waiting = {asyncio.ensure_future(command.wait(time_limit)), asyncio.ensure_future(full.wait())}
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    return command.exit_code is not None and not full.is_set()
