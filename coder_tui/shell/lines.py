"""Hands on the lines of a pipe as they come, without a task that would have to be woken for each."""

import asyncio
from collections.abc import Callable


class Lines(asyncio.Protocol):
    """`take` gets each line, without its end. `ValueError` from it, or too long a line, ends the reading."""

    def __init__(self, take: Callable[[bytes], None], longest: int) -> None:
        self._take = take
        self._longest = longest
        self._parts: list[bytes] = []
        self._size = 0
        self._transport: asyncio.ReadTransport | None = None
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when nothing more comes."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.ReadTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        *lines, rest = data.split(b"\n")
        try:
            for line in lines:
                parts, self._parts, self._size = self._parts, [], 0
                self._take(b"".join((*parts, line)) if parts else line)
            self._keep(rest)
        except ValueError:
            self.stop()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_result(None)

    def stop(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def _keep(self, rest: bytes) -> None:
        if rest:
            self._parts.append(rest)
            self._size += len(rest)
            if self._size > self._longest:
                raise ValueError("a line without an end")
