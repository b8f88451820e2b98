"""Copies to and pastes from the clipboard, by programs of the desktop or by asking the terminal."""

import asyncio
import base64
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from coder_tui.llm.traits import traits_of
from coder_tui.shell.environment import find_program
from coder_tui.ui.external_editor import is_alive
from coder_tui.ui.prompt.chips import picture_words
from coder_tui.ui.prompt.prompt import Prompt
from coder_tui.workspace.files.images import identify_picture

PATIENCE = 2.0
"""Seconds that a program may take."""
MOST_BYTES = 5_000_000
"""The largest picture that a model accepts."""
MOST_TEXT = 20_000_000
"""Bytes; far more than a message may have, so that a too long paste can be reported."""


def picture_commands(environ: Mapping[str, str], platform: str) -> Iterator[Sequence[str]]:
    """Return programs that print the user's clipboard as PNG; over ssh it is another machine's."""
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


def _is_remote(environ: Mapping[str, str]) -> bool:
    return bool(environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"))


async def _output_of(command: Sequence[str], most: int) -> bytes:
    """Return what a command prints; nothing if it fails, takes too long or prints too much."""
    nothing = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=nothing, stdout=asyncio.subprocess.PIPE, stderr=nothing
        )
    except OSError:
        return b""
    try:
        async with asyncio.timeout(PATIENCE):
            data = await _read_bounded(process, most)
            return data if data and await process.wait() == 0 else b""
    except TimeoutError:
        return b""
    finally:
        if process.returncode is None:
            process.kill()
            await _drain(process)


async def _read_bounded(process: asyncio.subprocess.Process, most: int) -> bytes:
    """Read the output; return nothing if it is too long."""
    assert process.stdout is not None
    data = bytearray()
    while chunk := await process.stdout.read(1 << 16):
        data += chunk
        if len(data) > most:
            return b""
    return bytes(data)


async def _drain(process: asyncio.subprocess.Process) -> None:
    """Empty the pipe: otherwise the end of the process would not be noticed."""
    assert process.stdout is not None
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while await process.stdout.read(1 << 20):
                pass
            await process.wait()


NOTHING = "Nothing to paste was found. Try the paste key of your terminal."


async def paste(
    prompt: Prompt, clipboard: "Clipboard", folder: Path | None, model: str, show: Callable[[str], None]
) -> None:
    """Paste a picture as a chip, else text; `folder` holds pictures until the program ends."""
    data = await clipboard.picture()
    if identify_picture(data) is None or folder is None:
        if text := await clipboard.text() or prompt.app.clipboard:
            prompt.paste(text)
        else:
            show(NOTHING)
        return
    try:
        path = await asyncio.to_thread(_save_picture, data, folder)
    except OSError as error:
        show(f"The picture could not be saved: {error.strerror}.")
        return
    prompt.type_text(prompt.chips.add_picture(path, picture_words(path)))
    if model and not traits_of(model).sees_images:
        show(f"{model} does not see pictures.")


def _save_picture(data: bytes, folder: Path) -> Path:
    """Save a picture in a folder of this process, and remove those of processes that are gone."""
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
    """Wrap a sequence so that tmux passes it on to its terminal (if `allow-passthrough` is on)."""
    if not environ.get("TMUX"):
        return sequence
    doubled = sequence.replace(_ESC, 2 * _ESC)
    return f"{_ESC}Ptmux;{doubled}{_ESC}\\"


LONGEST_SEQUENCE = 100_000
"""Characters that terminals accept in one sequence, with a margin: several cut or drop a longer one."""


def osc52(text: str, environ: Mapping[str, str]) -> str:
    """Return the request to a terminal; in tmux also the plain one, for `set-clipboard`."""
    plain = f"\x1b]52;c;{base64.b64encode(text.encode('utf-8', 'replace')).decode()}\a"
    wrapped = wrapped_for_tmux(plain, environ)
    return plain if wrapped == plain else plain + wrapped


def native_commands(environ: Mapping[str, str], platform: str) -> Iterator[Sequence[str]]:
    """Return programs that set the user's clipboard; over ssh they would set the remote machine's."""
    is_remote = _is_remote(environ)
    if platform == "darwin" and not is_remote:
        yield ("pbcopy",)
    if environ.get("WAYLAND_DISPLAY") and not is_remote:
        yield ("wl-copy",)
    if environ.get("DISPLAY"):
        yield ("xclip", "-selection", "clipboard")
        yield ("xsel", "--input", "--clipboard")


class Clipboard:
    """The user's clipboard; never runs a program from inside `workspace`."""

    def __init__(
        self, workspace: Path, environ: Mapping[str, str] = os.environ, platform: str = sys.platform
    ) -> None:
        self._workspace = workspace
        self._environ = environ
        self._platform = platform

    async def picture(self) -> bytes:
        """Return the picture, or nothing if there is none."""
        return await self._first(picture_commands(self._environ, self._platform), MOST_BYTES)

    async def text(self) -> str:
        data = await self._first(text_commands(self._environ, self._platform), MOST_TEXT)
        return data.decode("utf-8", "replace")

    async def copy(self, text: str, write: Callable[[str], None]) -> str:
        """Return what to show the user; "copied" only if that is certain.

        `write` sends a sequence to the terminal.
        """
        for command in self._found(native_commands(self._environ, self._platform)):
            if await _feed(command, text):
                return f"Copied {_amount(text)}."
        write(osc52(text, self._environ))
        if len(text) > LONGEST_SEQUENCE:
            return f"Sent {_amount(text)} to the clipboard; the terminal may cut off so much."
        return f"Sent {_amount(text)} to the clipboard."

    async def _first(self, commands: Iterator[Sequence[str]], most: int) -> bytes:
        for command in self._found(commands):
            if data := await _output_of(command, most):
                return data
        return b""

    def _found(self, commands: Iterator[Sequence[str]]) -> Iterator[Sequence[str]]:
        """Return those that are installed, by the absolute paths of their programs."""
        for program, *arguments in commands:
            if path := find_program(program, self._environ, (self._workspace,)):
                yield [path, *arguments]


async def _feed(command: Sequence[str], text: str) -> bool:
    """Return whether it accepted the text. Its output is dropped: xclip would keep a pipe open."""
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
