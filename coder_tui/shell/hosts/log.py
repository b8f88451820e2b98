"""The model process's log: what it prints comes here first, because it does not know all of our secrets."""

import asyncio
import codecs
from pathlib import Path
from typing import IO

from coder_tui.text.redact import Redactor
from coder_tui.text.stream_redactor import LineStream

_LOG_LIMIT = 2**20
_PIECE = 2**16


class HostLog:
    """Writes what a child prints to a private file, without secrets."""

    def __init__(self, path: Path, redact: Redactor) -> None:
        self._file = _open(path)
        self._lines = LineStream(redact)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    async def keep(self, stream: asyncio.StreamReader) -> None:
        """Read to the end of the stream, then let the file go."""
        with self._file:
            while data := await stream.read(_PIECE):
                self._write(self._lines.feed(self._decoder.decode(data)))
            self._write(self._lines.feed(self._decoder.decode(b"", True)) + self._lines.finish())

    def close(self) -> None:
        self._file.close()

    def _write(self, text: str) -> None:
        if text:
            self._file.write(text.encode())
            self._file.flush()


def _open(path: Path) -> IO[bytes]:
    path.parent.mkdir(parents=True, exist_ok=True)
    is_long = path.exists() and path.stat().st_size > _LOG_LIMIT
    file = path.open("wb" if is_long else "ab")
    path.chmod(0o600)
    return file
