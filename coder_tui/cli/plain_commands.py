"""Slash commands without a screen: those that only tell or do something work here, too."""

from dataclasses import dataclass
from typing import assert_never

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
from coder_tui.commands.catalogue import builtin_commands
from coder_tui.commands.registry import Called, Commands

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
