"""JSON-RPC over this process's own pipes: what is no message is answered, and the talk goes on.

Updates of one session, sent in the order in which things happened, as quickly as the editor reads.
"""

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable
from typing import IO, Any

from acp import Client

from coder_tui.acp.updates import Update
from coder_tui.protocol.errors import UsageError

LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of one message: a picture in a prompt may be some megabytes."""
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
Message = dict[str, Any]


class Wire:
    """A stream of messages, as the protocol's library wants one."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def receive(self) -> Message | None:
        """The next message; None when there will be no more."""
        while (line := await self._line()) is not None:
            if not line.strip():
                continue
            try:
                message = json.loads(line)
            except (ValueError, RecursionError) as error:
                await self._complain(PARSE_ERROR, f"this line is no JSON: {type(error).__name__}")
                continue
            if _is_message(message):
                return _mended(message)
            await self._complain(INVALID_REQUEST, "this is no JSON-RPC message")
        return None

    async def send(self, message: Message) -> None:
        # ASCII only: half a character from a file survives the way, whatever the other side makes of it.
        self._writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        await self._writer.drain()

    async def close(self) -> None:
        self._writer.close()

    async def _complain(self, code: int, words: str) -> None:
        await self.send({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": words}})

    async def _line(self) -> bytes | None:
        """Of a line that is too long only its end is left, which is no message."""
        while True:
            try:
                return await self._reader.readuntil(b"\n")
            except asyncio.LimitOverrunError as error:
                await self._reader.readexactly(error.consumed)
            except asyncio.IncompleteReadError as error:
                return error.partial or None


def _is_message(value: object) -> bool:
    """A request, a notification, or an answer that can belong to a question of ours."""
    if not isinstance(value, dict):
        return False
    if "method" in value:
        return isinstance(value["method"], str) and isinstance(value.get("id"), str | int | None)
    return isinstance(value.get("id"), str | int)


def _mended(message: Message) -> Message:
    """An error that is none, taken for one: the library would stumble over it, and all sessions with it."""
    if "method" in message or "result" in message or isinstance(message.get("error") or {}, dict):
        return message
    return {"id": message["id"], "error": {"code": INVALID_REQUEST, "message": "an error that is none"}}


async def own_pipes() -> Wire:
    """Standard input and output become the wire's alone: nothing else of this process can reach them."""
    incoming, outgoing = _taken(sys.stdin.fileno(), "rb"), _taken(sys.stdout.fileno(), "wb")
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    try:
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), incoming)
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), outgoing
        )
    except ValueError as error:
        raise UsageError(
            "an editor starts this and speaks to it through pipes; a file will not do"
        ) from error
    return Wire(reader, asyncio.StreamWriter(transport, protocol, None, loop))


def _taken(number: int, mode: str) -> IO[bytes]:
    """A copy of the descriptor; in its place children and stray prints find one that harms nobody."""
    copy = os.dup(number)
    if mode == "rb":
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, number)
        os.close(nothing)
    else:
        os.dup2(sys.stderr.fileno(), number)
    return os.fdopen(copy, mode, buffering=0)


log = logging.getLogger(__name__)
Late = Callable[[], Update]
"""Makes an update when its turn has come; runs in a thread, for it reads files."""


class Outbox:
    def __init__(self, client: Client, session_id: str) -> None:
        self._client = client
        self._session_id = session_id
        self._waiting: asyncio.Queue[Update | Late] = asyncio.Queue()
        self._task = asyncio.create_task(self._send_all())

    def put(self, update: Update | Late) -> None:
        self._waiting.put_nowait(update)

    async def flushed(self) -> None:
        """Until all that was put is on its way; `ConnectionError` where nobody reads it any more."""
        joined = asyncio.ensure_future(self._waiting.join())
        await asyncio.wait({joined, self._task}, return_when=asyncio.FIRST_COMPLETED)
        joined.cancel()
        if self._task.done() and not self._task.cancelled():
            self._task.result()

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _send_all(self) -> None:
        while True:
            update = await self._waiting.get()
            try:
                made = await asyncio.to_thread(update) if callable(update) else update
                await self._client.session_update(self._session_id, made)
            finally:
                self._waiting.task_done()
