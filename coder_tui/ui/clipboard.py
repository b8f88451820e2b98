"""Copying text out of the terminal: by a program that says whether it worked, else by asking the terminal."""

import asyncio
import base64
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from coder_tui.ui.terminal_sequences import wrapped_for_tmux
from coder_tui.workspace.programs import find_program

PATIENCE = 2.0
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
