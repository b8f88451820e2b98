"""One tab of a browser: a process of the program, its keys in and its screen out."""

import asyncio
import contextlib
import json
import logging
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import WSMessage, WSMsgType, web
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from coder_tui.text.safe_text import safe_text

log = logging.getLogger(__name__)
PATIENCE = 10.0
"""Seconds for a screen to store what it has and go, before it is ended."""
SMALLEST, LARGEST = 20, 1000
LONGEST_COMPLAINT = 10_000
_BEGIN = b"__GANGLION__\n"
_WHOLE_SCREEN = "\x1b[?1049l\x1b[H\x1b[2J"
_WEB = {
    "TEXTUAL_DRIVER": "textual.drivers.web_driver:WebDriver",
    "TEXTUAL_COLOR_SYSTEM": "truecolor",
    "TERM": "xterm-256color",
    "COLORTERM": "truecolor",
}
_OF_THIS_TERMINAL = ("TMUX", "STY", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "SSH_TTY", "NO_COLOR", "TEXTUAL")


@dataclass(frozen=True, slots=True)
class Size:
    width: int = 80
    height: int = 24


def size_of(width: object, height: object) -> Size:
    """What a browser says, within reason."""
    return Size(_within(width, 80), _within(height, 24))


def _within(value: object, otherwise: int) -> int:
    try:
        number = int(str(value))
    except ValueError:
        return otherwise
    return min(max(number, SMALLEST), LARGEST)


class _Complaint:
    """The end of what a program says on its error output, which is read while it runs."""

    def __init__(self, stream: asyncio.StreamReader) -> None:
        self._said = b""
        self._reading = asyncio.create_task(self._read(stream))

    async def words(self) -> str:
        """When the program has ended; what it started may hold the pipe, and is not waited for."""
        await asyncio.wait({self._reading}, timeout=1.0)
        self._reading.cancel()
        return safe_text(self._said.decode(errors="replace"))

    async def _read(self, stream: asyncio.StreamReader) -> None:
        while piece := await stream.read(LONGEST_COMPLAINT):
            self._said = (self._said + piece)[-LONGEST_COMPLAINT:]


class _Screen(AppService):
    """The program without a shell in between, in a group of its own."""

    def __init__(
        self, command: Sequence[str], environ: Mapping[str, str], socket: web.WebSocketResponse
    ) -> None:
        super().__init__(
            "",
            write_bytes=socket.send_bytes,
            write_str=socket.send_str,
            close=self._leave,
            download_manager=DownloadManager(),
        )
        self._words = command
        self._environ = environ
        self._socket = socket

    async def _leave(self) -> None:
        await self._socket.close()

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        kept = {name: value for name, value in self._environ.items() if name not in _OF_THIS_TERMINAL}
        self._process = process = await asyncio.create_subprocess_exec(
            *self._words,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env={**kept, **_WEB, "COLUMNS": str(width), "ROWS": str(height)},
            start_new_session=True,
        )
        self._stdin = process.stdin
        return process

    async def run(self) -> None:
        """Until the program ends; what it says last, on its error output, is shown in its place."""
        process = self._process
        if process is None or process.stdout is None or process.stderr is None:
            return
        complaint = _Complaint(process.stderr)
        try:
            await process.stdout.readuntil(_BEGIN)
            await self._packets(process.stdout)
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            pass  # it has ended, or the browser has gone
        if words := await complaint.words():
            log.warning("a tab's program said: %s", words)
        with contextlib.suppress(ConnectionError):
            await self._socket.send_bytes(f"{_WHOLE_SCREEN}{words}".replace("\n", "\r\n").encode())
        await self._leave()

    async def _packets(self, stdout: asyncio.StreamReader) -> None:
        while True:
            kind = await stdout.readexactly(1)
            payload = await stdout.readexactly(int.from_bytes(await stdout.readexactly(4), "big"))
            if kind == b"D":
                await self.on_data(payload)
            elif kind == b"M":
                await self.on_meta(payload)

    async def end(self) -> None:
        """Ask it to go, then see to it."""
        process = self._process
        if process is None:
            return
        await self.send_meta({"type": "quit"})
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    await process.wait()
                break
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
        await process.wait()
        if self._task is not None:
            await self._task


class Tab:
    def __init__(
        self, command: Sequence[str], environ: Mapping[str, str], socket: web.WebSocketResponse
    ) -> None:
        self._socket = socket
        self._screen = _Screen(command, environ, socket)

    async def run(self, size: Size) -> None:
        """Until the browser goes, or the program ends."""
        await self._screen.start(size.width, size.height)
        try:
            async for message in self._socket:
                await self._take(message)
        finally:
            await asyncio.shield(self._screen.end())

    async def _take(self, message: WSMessage) -> None:
        if message.type is not WSMsgType.TEXT:
            return
        try:
            said = json.loads(message.data)
        except (ValueError, RecursionError):
            return
        await self._obey(said)

    async def _obey(self, said: Any) -> None:
        match said:
            case ["stdin", str(keys)]:
                await self._screen.send_bytes(keys.encode(errors="replace"))
            case ["resize", {"width": width, "height": height}]:
                size = size_of(width, height)
                await self._screen.set_terminal_size(size.width, size.height)
            case ["ping", str(mark)]:
                await self._socket.send_json(["pong", mark])
            case ["blur"]:
                await self._screen.blur()
            case ["focus"]:
                await self._screen.focus()
            case _:
                log.info("a browser said something unknown")
