"""Taking a picture or text from the clipboard, by the programs that a desktop has for it."""

import asyncio
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from coder_tui.workspace.programs import find_program

PATIENCE = 2.0
"""Seconds that a program may take."""
MOST_BYTES = 5_000_000
"""What a model takes as a picture."""
MOST_TEXT = 20_000_000
"""Bytes; what is far too long for a message is still taken, so that it can be said."""


def picture_commands(environ: Mapping[str, str], platform: str) -> Iterator[Sequence[str]]:
    """Programs that print this person's clipboard as PNG; over ssh it is not theirs."""
    if _is_remote(environ):
        return
    if platform == "darwin":
        yield ("pngpaste", "-")
    if environ.get("WAYLAND_DISPLAY"):
        yield ("wl-paste", "--type", "image/png")
    if environ.get("DISPLAY"):
        yield ("xclip", "-selection", "clipboard", "-target", "image/png", "-out")


def text_commands(environ: Mapping[str, str], platform: str) -> Iterator[Sequence[str]]:
    if _is_remote(environ):
        return
    if platform == "darwin":
        yield ("pbpaste",)
    if environ.get("WAYLAND_DISPLAY"):
        yield ("wl-paste", "--no-newline", "--type", "text")
    if environ.get("DISPLAY"):
        yield ("xclip", "-selection", "clipboard", "-out")
        yield ("xsel", "--output", "--clipboard")


class ClipboardReader:
    """Nothing is run from inside of `workspace`."""

    def __init__(
        self, workspace: Path, environ: Mapping[str, str] = os.environ, platform: str = sys.platform
    ) -> None:
        self._workspace = workspace
        self._environ = environ
        self._platform = platform

    async def picture(self) -> bytes:
        """Empty where there is none."""
        return await self._first(picture_commands(self._environ, self._platform), MOST_BYTES)

    async def text(self) -> str:
        data = await self._first(text_commands(self._environ, self._platform), MOST_TEXT)
        return data.decode("utf-8", "replace")

    async def _first(self, commands: Iterator[Sequence[str]], most: int) -> bytes:
        for program, *arguments in commands:
            path = find_program(program, self._environ, (self._workspace,))
            if path is not None and (data := await _printed([path, *arguments], most)):
                return data
        return b""


def _is_remote(environ: Mapping[str, str]) -> bool:
    return bool(environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"))


async def _printed(command: Sequence[str], most: int) -> bytes:
    """What it prints, empty where it fails, takes too long or prints too much."""
    nothing = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=nothing, stdout=asyncio.subprocess.PIPE, stderr=nothing
        )
    except OSError:
        return b""
    try:
        async with asyncio.timeout(PATIENCE):
            data = await _bounded(process, most)
            return data if data and await process.wait() == 0 else b""
    except TimeoutError:
        return b""
    finally:
        if process.returncode is None:
            process.kill()
            await _drained(process)


async def _bounded(process: asyncio.subprocess.Process, most: int) -> bytes:
    """Empty where there is too much."""
    assert process.stdout is not None
    data = bytearray()
    while chunk := await process.stdout.read(1 << 16):
        data += chunk
        if len(data) > most:
            return b""
    return bytes(data)


async def _drained(process: asyncio.subprocess.Process) -> None:
    """A pipe that nobody empties would keep the end of its process from being seen."""
    assert process.stdout is not None
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while await process.stdout.read(1 << 20):
                pass
            await process.wait()
