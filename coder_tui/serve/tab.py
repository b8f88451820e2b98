"""One browser tab: a process of the program that gets the keys and sends the screen."""

import asyncio
import contextlib
import json
import logging
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aiohttp import WSMessage, WSMsgType, web
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from coder_tui.tasks import finish_despite_cancel
from coder_tui.text.safe_text import safe_text

log = logging.getLogger(__name__)
PATIENCE = 10.0
"""Seconds for a screen to save its state and exit before it is killed."""
SMALLEST, LARGEST = 20, 1000
LONGEST_ERROR = 10_000
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


def parse_size(width: object, height: object) -> Size:
    """Parse the size that a browser sends, within limits."""
    return Size(_within(width, 80), _within(height, 24))


def _within(value: object, otherwise: int) -> int:
    try:
        number = int(str(value))
    except ValueError:
        return otherwise
    return min(max(number, SMALLEST), LARGEST)


class _ErrorTail:
    """The end of a program's standard error, which is read while it runs."""

    def __init__(self, stream: asyncio.StreamReader) -> None:
        self._said = b""
        self._reading = asyncio.create_task(self._read(stream))

    async def text(self) -> str:
        """Return the text once the program has ended. Do not wait for children that keep the pipe open."""
        await asyncio.wait({self._reading}, timeout=1.0)
        self._reading.cancel()
        return safe_text(self._said.decode(errors="replace"))

    async def _read(self, stream: asyncio.StreamReader) -> None:
        while piece := await stream.read(LONGEST_ERROR):
            self._said = (self._said + piece)[-LONGEST_ERROR:]


class Tab(AppService):
    """The program, started without a shell and in its own process group, and the socket of its browser."""

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
        """Run until the program ends. The end of its standard error is then shown in the tab."""
        process = self._process
        if process is None or process.stdout is None or process.stderr is None:
            return
        error_tail = _ErrorTail(process.stderr)
        try:
            await process.stdout.readuntil(_BEGIN)
            await self._packets(process.stdout)
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            pass  # the program has ended, or the browser is gone
        if words := await error_tail.text():
            log.warning("a tab's program wrote to standard error: %s", words)
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
        """Ask the program to quit, then end it with signals."""
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

    async def serve(self, size: Size) -> None:
        """Run until the browser disconnects or the program ends."""
        await self.start(size.width, size.height)
        try:
            async for message in self._socket:
                await self._handle(message)
        finally:
            await finish_despite_cancel(self.end())

    async def _handle(self, message: WSMessage) -> None:
        if message.type is not WSMsgType.TEXT:
            return
        try:
            said = json.loads(message.data)
        except (ValueError, RecursionError):
            return
        match said:
            case ["stdin", str(keys)]:
                await self.send_bytes(keys.encode(errors="replace"))
            case ["resize", {"width": width, "height": height}]:
                size = parse_size(width, height)
                await self.set_terminal_size(size.width, size.height)
            case ["ping", str(mark)]:
                await self._socket.send_json(["pong", mark])
            case ["blur"]:
                await self.blur()
            case ["focus"]:
                await self.focus()
            case _:
                log.info("a browser sent an unknown message")
