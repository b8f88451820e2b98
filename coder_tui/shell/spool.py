"""Keeps the whole of what a command printed in a file, once it is more than a result can hold."""

import contextlib
import os
from pathlib import Path

MOST_BYTES = 50_000_000
_CUT = b"\n[output truncated: this file holds no more]\n"


class Spool:
    """Nothing is written until there is more than `limit`; a full disk costs the file, not the call."""

    def __init__(self, path: Path, limit: int, most: int = MOST_BYTES) -> None:
        self._path = path
        self._limit = limit
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
            data = data[: self._most - (self._size - len(data))] + _CUT
        if self._file < 0:
            self._held += data
            if self._size > self._limit:
                self._open()
        else:
            self._write(data)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        self._is_closed = True

    def _open(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
            self._file = os.open(self._path, flags, 0o600)
        except OSError:
            self._is_broken = True
        else:
            self._write(bytes(self._held))
        self._held.clear()

    def _write(self, data: bytes) -> None:
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(self._file, left) :]
        except OSError:
            self._is_broken = True
            with contextlib.suppress(OSError):
                self._path.unlink()
