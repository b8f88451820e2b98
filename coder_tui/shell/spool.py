"""Keeps the whole of what a command printed in a file, once it is more than a result can hold."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from coder_tui.text.stream_redactor import LineStream

MOST_BYTES = 50_000_000
_PIECE = 64 * 1024
_CUT = b"\n[output truncated: this file holds no more]\n"


class Spool:
    """Nothing is written until there is more than `limit`; a full disk costs the file, not the call.

    What is written went through `redact`: a secret that is not complete yet waits for its rest.
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
        """Where the text is, when it was kept."""
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
        """What comes after the end is nobody's."""
        if self._size > self._limit and not self._is_closed:
            self._write(len(self._held), is_last=True)
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        self._is_closed = True

    def discard(self) -> None:
        """For output that each stream had room for, after all."""
        if self.path is not None:
            self._path.unlink(missing_ok=True)
            self._is_broken = True

    def flush(self) -> None:
        """For a reader who comes while the command still prints."""
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
