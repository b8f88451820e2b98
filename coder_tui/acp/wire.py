"""JSON-RPC over standard input and output. A wrong message gets an error, and the connection stays open."""

import asyncio
import json
import os
import sys
from typing import IO, Any

from coder_tui.protocol.errors import UsageError

LONGEST_LINE = 64 * 1024 * 1024
"""Most bytes of one message. A picture in a prompt may have several megabytes."""
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
Message = dict[str, Any]


class Wire:
    """A stream of messages, with the interface that the protocol's library expects."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def receive(self) -> Message | None:
        """Return the next message, or None at the end."""
        while (line := await self._line()) is not None:
            if not line.strip():
                continue
            try:
                message = json.loads(line)
            except (ValueError, RecursionError) as error:
                await self._complain(PARSE_ERROR, f"this line is not valid JSON: {type(error).__name__}")
                continue
            if _is_message(message):
                return _repaired(message)
            await self._complain(INVALID_REQUEST, "this is not a JSON-RPC message")
        return None

    async def send(self, message: Message) -> None:
        # ASCII only, so that lone surrogates from a file can be sent.
        self._writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        await self._writer.drain()

    async def close(self) -> None:
        self._writer.close()

    async def _complain(self, code: int, words: str) -> None:
        await self.send({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": words}})

    async def _line(self) -> bytes | None:
        """Read a line. Of one that is too long, only the end is returned, which is not a valid message."""
        while True:
            try:
                return await self._reader.readuntil(b"\n")
            except asyncio.LimitOverrunError as error:
                await self._reader.readexactly(error.consumed)
            except asyncio.IncompleteReadError as error:
                return error.partial or None


def _is_message(value: object) -> bool:
    """Return whether this is a request, a notification, or a response to one of our requests."""
    if not isinstance(value, dict):
        return False
    if "method" in value:
        return isinstance(value["method"], str) and isinstance(value.get("id"), str | int | None)
    return isinstance(value.get("id"), str | int)


def _repaired(message: Message) -> Message:
    """Replace a malformed error: the library would fail on it and end all sessions."""
    if "method" in message or "result" in message or isinstance(message.get("error") or {}, dict):
        return message
    return {"id": message["id"], "error": {"code": INVALID_REQUEST, "message": "malformed error"}}


async def own_pipes() -> Wire:
    """Reserve standard input and output for the protocol. Nothing else in this process can use them."""
    incoming, outgoing = _detach(sys.stdin.fileno(), "rb"), _detach(sys.stdout.fileno(), "wb")
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    try:
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), incoming)
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), outgoing
        )
    except ValueError as error:
        raise UsageError(
            "'coder-tui acp' must be started by an editor, with pipes as standard input and output"
        ) from error
    return Wire(reader, asyncio.StreamWriter(transport, protocol, None, loop))


def _detach(number: int, mode: str) -> IO[bytes]:
    """Return a copy of the descriptor, and redirect the original away from children and stray prints."""
    copy = os.dup(number)
    if mode == "rb":
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, number)
        os.close(nothing)
    else:
        os.dup2(sys.stderr.fileno(), number)
    return os.fdopen(copy, mode, buffering=0)
