"""Runs one command to its end: bounded output, live pieces, a time limit, and nothing left behind."""

import asyncio
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coder_tui.shell.launch import Launch
from coder_tui.shell.output import HeadAndTail, LiveOutput
from coder_tui.shell.running import RunningCommand, insist
from coder_tui.shell.spool import Spool

TIMED_OUT = 124
GRACE = 2.0
# A person who pressed Esc is waiting.
_GRACE_CANCEL = 0.25


@dataclass(frozen=True, slots=True)
class Completed:
    """How a command ended; `output` is both streams as they came in. A signal N gives the exit code 128+N.

    `saved` is where the whole output is, when it was more than could be kept.
    """

    exit_code: int
    stdout: str
    stderr: str
    output: str
    truncated: bool
    timed_out: bool
    duration_ms: int
    saved: Path | None = None


def shell_argv(shell: str, command: str, path: str = "") -> tuple[str, ...]:
    """Run `command` in a login shell, with the folders of `path` before those that the login sets."""
    # Debian's /etc/profile sets PATH anew, and an activated environment would be lost.
    first = f'export PATH={shlex.quote(path)}:"$PATH"; ' if path else ""
    return (shell, "-lc", f"{first}{command}")


async def run_command(
    argv: Sequence[str],
    *,
    directory: Path,
    time_limit: float,
    limit: int,
    environment: Mapping[str, str],
    on_output: Callable[[str], None],
) -> Completed:
    """Run `argv` in a session of its own, without input. Raises OSError when it cannot start.

    Cancelling ends all of its processes before the cancellation goes on.
    """
    launch = Launch(tuple(argv), environment)
    kept = Kept(limit, on_output)
    return await run_launch(launch, kept, directory=directory, time_limit=time_limit)


async def run_launch(launch: Launch, kept: "Kept", *, directory: Path, time_limit: float) -> Completed:
    """As `run_command`, for a command that may be confined."""
    command = RunningCommand(kept.take)
    started = time.monotonic()
    await command.start(launch, directory)
    try:
        timed_out = not await command.wait(time_limit)
        await command.end(GRACE)
    except asyncio.CancelledError:
        await insist(command.end(_GRACE_CANCEL))
        raise
    finally:
        command.close()
        kept.close()
    code = TIMED_OUT if timed_out else command.exit_code
    if code is None:
        raise RuntimeError("the command did not end")
    return kept.completed(code, timed_out=timed_out, duration=time.monotonic() - started)


class Kept:
    """What is kept of a command's output: head and tail in memory, the whole in a file where one is given."""

    def __init__(self, limit: int, on_output: Callable[[str], None], spool: Spool | None = None) -> None:
        self._buffers = {"stdout": HeadAndTail(limit), "stderr": HeadAndTail(limit)}
        self._merged = HeadAndTail(limit)
        self._live = LiveOutput(on_output)
        self._spool = spool

    def take(self, name: str, data: bytes) -> None:
        self._buffers[name].add(data)
        self._merged.add(data)
        self._live.add(name, data)
        if self._spool is not None:
            self._spool.add(data)

    def close(self) -> None:
        self._live.flush()
        if self._spool is not None:
            self._spool.close()

    def completed(self, exit_code: int, *, timed_out: bool, duration: float) -> Completed:
        stdout, stderr = self._buffers["stdout"], self._buffers["stderr"]
        truncated = stdout.is_truncated or stderr.is_truncated
        if self._spool is not None and not truncated:
            self._spool.discard()
        return Completed(
            exit_code=exit_code,
            stdout=stdout.text(),
            stderr=stderr.text(),
            output=self._merged.text(),
            truncated=truncated,
            timed_out=timed_out,
            duration_ms=round(duration * 1000),
            saved=self._spool.path if self._spool is not None else None,
        )
