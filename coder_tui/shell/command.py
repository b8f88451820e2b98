"""Run one command to its end: head and tail of its output, a time limit, and no process left behind.

Only that stays in memory. All of the output goes to a file once it is more than a result can hold.
"""

import asyncio
import codecs
import contextlib
import os
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from coder_tui.shell.running import Launch, RunningCommand
from coder_tui.tasks import finish_despite_cancel
from coder_tui.text.redact import LineStream

TRUNCATED = "[output truncated]"
_MARK = f"\n{TRUNCATED}\n".encode()
_LIVE_EVERY = 0.05
_LIVE_MOST = 16 * 1024


class HeadAndTail:
    """Holds at most `limit` bytes of a stream: its beginning and its end."""

    def __init__(self, limit: int) -> None:
        room = max(limit - len(_MARK), 0)
        self._limit = limit
        self._head_room = room // 2
        self._tail_room = room - room // 2
        self._head = bytearray()
        self._rest = bytearray()
        self._size = 0

    @property
    def is_truncated(self) -> bool:
        return self._size > self._limit

    def add(self, data: bytes) -> None:
        self._size += len(data)
        room = self._head_room - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._rest += data
        # Trimmed rarely, so that many small pieces do not move the buffer each time.
        if len(self._rest) > 2 * self._limit + _LIVE_MOST:
            del self._rest[: -self._limit]

    def text(self) -> str:
        if not self.is_truncated:
            return bytes(self._head + self._rest).decode("utf-8", "replace")
        tail = bytes(self._rest[-self._tail_room :]) if self._tail_room else b""
        return _whole_characters(bytes(self._head)) + _MARK.decode() + _from_character(tail)


def both_streams(limit: int) -> dict[str, HeadAndTail]:
    return {"stdout": HeadAndTail(limit), "stderr": HeadAndTail(limit)}


def _whole_characters(data: bytes) -> str:
    """Decode without the last character, if it is incomplete."""
    return codecs.getincrementaldecoder("utf-8")("replace").decode(data)


def _from_character(data: bytes) -> str:
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:].decode("utf-8", "replace")


class LiveOutput:
    """Passes on decoded output at most 20 times a second, and only the newest part of a flood."""

    def __init__(self, on_output: Callable[[str], None]) -> None:
        self._on_output = on_output
        self._decoders = {
            name: codecs.getincrementaldecoder("utf-8")("replace") for name in ("stdout", "stderr")
        }
        self._pending = ""
        self._timer: asyncio.TimerHandle | None = None

    def add(self, stream: str, data: bytes, *, final: bool = False) -> None:
        self._pending += self._decoders[stream].decode(data, final)
        if len(self._pending) > 2 * _LIVE_MOST:
            self._pending = f"{TRUNCATED}\n{self._pending[-_LIVE_MOST:]}"
        if self._pending and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_LIVE_EVERY, self.flush)

    def flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._pending:
            pending, self._pending = self._pending, ""
            self._on_output(pending)


MOST_BYTES = 50_000_000
_PIECE = 64 * 1024
_CUT = b"\n[output truncated: this file holds no more]\n"


class Spool:
    """Writes output to a file once there is more than `limit`. If the disk is full, only the file is lost.

    Text passes `redact` first. An incomplete secret waits for its rest.
    """

    def __init__(self, path: Path, limit: int, redact: Callable[[str], str], most: int = MOST_BYTES) -> None:
        self._path = path
        self._limit = limit
        self._lines = LineStream(redact)
        self._most = most
        self._held = bytearray()
        self._size = 0
        self._file = -1
        self._is_broken = False
        self._is_closed = False

    @property
    def path(self) -> Path | None:
        """The file with the whole text, if there was more than the limit."""
        return self._path if self._size > self._limit and not self._is_broken else None

    def add(self, data: bytes) -> None:
        if self._is_broken or self._is_closed or self._size > self._most:
            return
        self._size += len(data)
        if self._size > self._most:
            data = data[: self._most - self._size] + _CUT
        self._held += data
        if self._size > self._limit and len(self._held) >= _PIECE:
            end = self._held.rfind(b"\n") + 1 or len(self._held)
            self._write(end)

    def close(self) -> None:
        """Write the rest and close the file. Later output is dropped."""
        if self._size > self._limit and not self._is_closed:
            self._write(len(self._held), is_last=True)
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        self._is_closed = True

    def discard(self) -> None:
        """Delete the file, if each stream fitted into the result after all."""
        if self.path is not None:
            self._path.unlink(missing_ok=True)
            self._is_broken = True

    def flush(self) -> None:
        """Write what is buffered, for a reader while the command still runs."""
        if self._size > self._limit and not self._is_closed and not self._is_broken:
            self._write(len(self._held))

    def _write(self, end: int, *, is_last: bool = False) -> None:
        text = self._lines.feed(bytes(self._held[:end]).decode("utf-8", "surrogateescape"))
        text += self._lines.finish() if is_last else ""
        del self._held[:end]
        try:
            if self._file < 0:
                self._open()
            left = memoryview(text.encode("utf-8", "surrogateescape"))
            while left:
                left = left[os.write(self._file, left) :]
        except OSError:
            self._is_broken = True
            with contextlib.suppress(OSError):
                self._path.unlink()

    def _open(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        self._file = os.open(self._path, flags, 0o600)


TIMED_OUT = 124
GRACE = 2.0
# The user pressed Esc and is waiting.
_GRACE_CANCEL = 0.25


@dataclass(frozen=True, slots=True)
class Completed:
    """How a command ended. `output` has both streams in order of arrival. Signal N gives the exit code 128+N.

    `saved` is the file with the whole output, if that was more than the limit.
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
    """Return the arguments that run `command` in a login shell, with `path` before the login's own PATH."""
    # Debian's /etc/profile resets PATH, and an activated environment would be lost.
    first = f'export PATH={shlex.quote(path)}:"$PATH"; ' if path else ""
    return (shell, "-lc", f"{first}{command}")


async def run_launch(
    launch: Launch, collector: "OutputCollector", *, directory: Path, time_limit: float
) -> Completed:
    """Run a command in its own session, without input. Raises OSError if it cannot start.

    If cancelled, ends all of its processes first.
    """
    command = RunningCommand(collector.add)
    started = time.monotonic()
    await command.start(launch, directory)
    try:
        timed_out = not await command.wait(time_limit)
        await command.end(GRACE)
    except asyncio.CancelledError:
        await finish_despite_cancel(command.end(_GRACE_CANCEL))
        raise
    finally:
        command.close()
        collector.close()
    code = TIMED_OUT if timed_out else command.exit_code
    if code is None:
        raise RuntimeError("the command did not end")
    return collector.completed(code, timed_out=timed_out, duration=time.monotonic() - started)


class OutputCollector:
    """Collects a command's output: head and tail in memory, and all of it in a file if a spool is given."""

    def __init__(self, limit: int, on_output: Callable[[str], None], spool: Spool | None = None) -> None:
        self._buffers = both_streams(limit)
        self._merged = HeadAndTail(limit)
        self._live = LiveOutput(on_output)
        self._spool = spool

    def add(self, name: str, data: bytes) -> None:
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
