"""A language server's process, whose messages are found whatever it prints around them."""

import asyncio
import re
from contextlib import ExitStack

from coder_tui.shell.server_process import ServerProcess, Spawned

_KEPT = 8_000
_CHUNK = 65_536
_LONGEST_MESSAGE = 2**26
_HEADER = re.compile(rb"Content-Length: *(\d+)", re.IGNORECASE)
_PLAIN = re.compile(rb"Content-Length: (\d+)\r\n")


class TolerantReader:
    """Finds the messages though the server, or what starts it, prints something before or between them."""

    def __init__(self, stream: asyncio.StreamReader) -> None:
        self._stream = stream
        self.noise = b""
        """What was no message, the last of it."""

    async def readline(self) -> bytes:
        try:
            line = await self._stream.readline()
        except ValueError:
            # A line without an end: what is there is dropped, and the search goes on.
            line = await self._stream.read(_CHUNK)
        found = _HEADER.search(line)
        if found is None:
            if line.strip() and b":" not in line[:40]:
                self.noise = (self.noise + line)[-_KEPT:]
            return line
        if int(found[1]) > _LONGEST_MESSAGE:
            raise ValueError(f"a message of {int(found[1])} bytes is too long")
        return line if _PLAIN.fullmatch(line) else b"Content-Length: %d\r\n" % int(found[1])

    async def readexactly(self, n: int) -> bytes:
        return await self._stream.readexactly(n)


class LspProcess(ServerProcess):
    def __init__(self, spawned: Spawned, held: ExitStack) -> None:
        super().__init__(spawned, held)
        self.reader = TolerantReader(self.stdout)

    def said(self) -> str:
        """With the last of what it printed where only messages belong."""
        return (super().said() + self.reader.noise.decode("utf-8", "replace")).strip()
