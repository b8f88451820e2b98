"""Copying text out of the terminal: by a program that says whether it worked, else by asking the terminal.

Taking a picture or text from the clipboard, by the programs that a desktop has for it.

Pastes by key: a picture as a chip, else text, from the clipboard of the desktop.

Control sequences on their way through a multiplexer.
"""

import asyncio
import base64
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from coder_tui.llm.traits import traits_of
from coder_tui.ui.external_editor import is_alive
from coder_tui.ui.prompt.prompt import Prompt
from coder_tui.workspace.files.images import look_at
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


NOTHING = "Nothing to paste was found; the paste key of your terminal may know more."


class Pasting:
    """`folder` keeps pictures until the program ends; `model` would look at them."""

    def __init__(
        self,
        prompt: Prompt,
        clipboard: ClipboardReader,
        folder: Path | None,
        model: str,
        say: Callable[[str], None],
    ) -> None:
        self._prompt = prompt
        self._clipboard = clipboard
        self._folder = folder
        self._model = model
        self._say = say

    async def paste(self) -> None:
        data = await self._clipboard.picture()
        if look_at(data) is not None and self._folder is not None:
            await self._put_picture(data, self._folder)
        elif text := await self._clipboard.text() or self._prompt.app.clipboard:
            self._prompt.paste(text)
        else:
            self._say(NOTHING)

    async def _put_picture(self, data: bytes, folder: Path) -> None:
        try:
            path = await asyncio.to_thread(_saved, data, folder)
        except OSError as error:
            self._say(f"The picture could not be kept: {error.strerror}.")
            return
        self._prompt.paste_picture(path)
        if self._model and not traits_of(self._model).sees_images:
            self._say(f"{self._model} does not see pictures.")


def _saved(data: bytes, folder: Path) -> Path:
    """In a folder for this process; those of processes that are gone are removed."""
    for left in folder.parent.glob("*"):
        if left.name.isdigit() and not is_alive(int(left.name)):
            remove_pictures(left)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"pasted-{1 + sum(1 for _ in folder.iterdir())}.png"
    path.write_bytes(data)
    return path


def remove_pictures(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


_ESC = "\x1b"


def wrapped_for_tmux(sequence: str, environ: Mapping[str, str]) -> str:
    """As tmux hands it on to the terminal around it (where `allow-passthrough` is on)."""
    if not environ.get("TMUX"):
        return sequence
    doubled = sequence.replace(_ESC, 2 * _ESC)
    return f"{_ESC}Ptmux;{doubled}{_ESC}\\"


"""Seconds that a program may take."""
LONGEST_SEQUENCE = 100_000
"""Characters that terminals take in one sequence, with some room: several cut or drop a longer one."""


def osc52(text: str, environ: Mapping[str, str]) -> str:
    """The request to a terminal; in tmux also the plain one, which tmux takes where `set-clipboard` is on."""
    plain = f"\x1b]52;c;{base64.b64encode(text.encode('utf-8', 'replace')).decode()}\a"
    wrapped = wrapped_for_tmux(plain, environ)
    return plain if wrapped == plain else plain + wrapped


def native_commands(environ: Mapping[str, str], platform: str) -> Iterator[Sequence[str]]:
    """Programs that reach this person's clipboard; over ssh the one of the far machine is not theirs."""
    is_remote = bool(environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"))
    if platform == "darwin" and not is_remote:
        yield ("pbcopy",)
    if environ.get("WAYLAND_DISPLAY") and not is_remote:
        yield ("wl-copy",)
    if environ.get("DISPLAY"):
        yield ("xclip", "-selection", "clipboard")
        yield ("xsel", "--input", "--clipboard")


class Clipboard:
    """`write` sends a sequence to the terminal; nothing is run from inside of `workspace`."""

    def __init__(
        self,
        write: Callable[[str], None],
        workspace: Path,
        environ: Mapping[str, str] = os.environ,
        platform: str = sys.platform,
    ) -> None:
        self._write = write
        self._workspace = workspace
        self._environ = environ
        self._platform = platform

    async def copy(self, text: str) -> str:
        """Returns what to tell the person; "copied" only where that is known."""
        for program, *arguments in native_commands(self._environ, self._platform):
            path = find_program(program, self._environ, (self._workspace,))
            if path is not None and await self._fed([path, *arguments], text):
                return f"Copied {_amount(text)}."
        sequence = osc52(text, self._environ)
        self._write(sequence)
        if len(text) > LONGEST_SEQUENCE:
            return f"Sent {_amount(text)} to the clipboard; so much may arrive cut."
        return f"Sent {_amount(text)} to the clipboard."

    async def _fed(self, command: Sequence[str], text: str) -> bool:
        """Whether it took the text. Its output is nobody's: xclip stays and would hold a pipe open."""
        nothing = asyncio.subprocess.DEVNULL
        try:
            process = await asyncio.create_subprocess_exec(
                *command, stdin=asyncio.subprocess.PIPE, stdout=nothing, stderr=nothing
            )
        except OSError:
            return False
        try:
            async with asyncio.timeout(PATIENCE):
                await process.communicate(text.encode("utf-8", "replace"))
        except (TimeoutError, BrokenPipeError, ConnectionResetError):
            if process.returncode is None:
                process.kill()
                await process.wait()
            return False
        return process.returncode == 0


def _amount(text: str) -> str:
    lines = text.rstrip("\n").count("\n") + 1
    return f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
