"""Keeps the head and the tail of what a command prints, and passes it on live, in bounded memory."""

import asyncio
import codecs
from collections.abc import Callable

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
        # Trimmed rarely, so that a flood of small pieces does not move the buffer each time.
        if len(self._rest) > 2 * self._limit + _LIVE_MOST:
            del self._rest[: -self._limit]

    def text(self) -> str:
        if not self.is_truncated:
            return bytes(self._head + self._rest).decode("utf-8", "replace")
        tail = bytes(self._rest[-self._tail_room :]) if self._tail_room else b""
        return _whole_characters(bytes(self._head)) + _MARK.decode() + _from_character(tail)


def _whole_characters(data: bytes) -> str:
    """Decode without the character that the cut went through."""
    return codecs.getincrementaldecoder("utf-8")("replace").decode(data)


def _from_character(data: bytes) -> str:
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:].decode("utf-8", "replace")


class LiveOutput:
    """Passes decoded output on, a few times a second; of a flood only the newest part."""

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
