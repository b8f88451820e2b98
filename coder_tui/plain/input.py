"""Lines of standard input for the append-only mode, read beside the event loop.

Slash commands without a screen: those that only tell or do something work here, too.
"""

import asyncio
import sys
import threading
from dataclasses import dataclass
from typing import TextIO, assert_never

from coder_tui.agent.session import Session
from coder_tui.commands.base import (
    Copy,
    Intent,
    Leave,
    OpenScreen,
    Say,
    SetMode,
    ShowAgain,
    StartSession,
    Submit,
)
from coder_tui.commands.builtin import builtin_commands
from coder_tui.commands.registry import Called, Commands


class InputLines:
    """`next` gives a line without its end, or None when there will be no more."""

    def __init__(self, stream: TextIO = sys.stdin) -> None:
        self._stream = stream
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        # A daemon: a thread that waits for a terminal cannot be woken, and must not keep the program alive.
        threading.Thread(target=self._read, daemon=True, name="input-lines").start()

    async def next(self) -> str | None:
        line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)  # whoever asks next must not wait for ever
        return line

    def _read(self) -> None:
        for line in self._stream:
            self._hand_over(line.removesuffix("\n"))
        self._hand_over(None)

    def _hand_over(self, line: str | None) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)


_COMMANDS = Commands(builtin_commands())


@dataclass(frozen=True, slots=True)
class Obeyed:
    """What to print, and what to say to the model in the person's name."""

    words: str = ""
    message: str = ""


def called(line: str) -> Called | None:
    """The built-in command that a line means; None for anything else."""
    found = _COMMANDS.read(line)
    return found if isinstance(found, Called) else None


async def obey(session: Session, call: Called) -> Obeyed:
    return _obeyed(session, call.command.name, await call.command.run(session, call.argument))


def _obeyed(session: Session, name: str, intent: Intent) -> Obeyed:
    match intent:
        case Say(text):
            return Obeyed(text)
        case ShowAgain(text, _, draft):
            return Obeyed(f"{text}\nYou had written: {draft}" if draft else text)
        case Submit(text):
            return Obeyed(message=text)
        case SetMode(mode):
            session.set_mode(mode)
            return Obeyed()
        case OpenScreen() | StartSession() | Copy() | Leave():
            return Obeyed(f"/{name} needs the screen: nothing was sent. /help tells what there is here.")
        case _:
            assert_never(intent)
