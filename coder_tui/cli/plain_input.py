"""Lines of standard input for the append-only mode, read beside the event loop."""

import asyncio
import sys
import threading
from typing import TextIO


class InputLines:
    """`next` gives a line without its end, or None when there will be no more."""

    def __init__(self, stream: TextIO = sys.stdin) -> None:
        self._stream = stream
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        # A daemon: a thread that waits for a terminal cannot be woken, and must not keep the program alive.
        threading.Thread(target=self._read, daemon=True, name="input-lines").start()

    async def next(self) -> str | None:
        line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)  # whoever asks next must not wait for ever
        return line

    def _read(self) -> None:
        for line in self._stream:
            self._hand_over(line.removesuffix("\n"))
        self._hand_over(None)

    def _hand_over(self, line: str | None) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
