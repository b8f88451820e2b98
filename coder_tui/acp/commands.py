"""Slash commands that make sense in an editor: what only opens a screen is left out."""

from collections.abc import Callable
from typing import assert_never

from acp.helpers import update_available_commands
from acp.schema import (
    AvailableCommand,
    AvailableCommandInput,
    AvailableCommandsUpdate,
    UnstructuredCommandInput,
)

from coder_tui.agent.session import Session
from coder_tui.commands.base import (
    Command,
    Copy,
    Intent,
    Leave,
    OpenScreen,
    Say,
    SetMode,
    ShowAgain,
    Source,
    StartSession,
    Submit,
)
from coder_tui.commands.builtin import builtin_commands
from coder_tui.commands.discovered import with_custom, with_prompts, with_skills
from coder_tui.commands.registry import Called, Commands
from coder_tui.text.safe_text import safe_line

_OF_THE_EDITOR = frozenset({"mode", "new", "quit", "copy", "fork"})
"""The editor has a way of its own for these."""


def commands_of(session: Session) -> tuple[Command, ...]:
    table = with_custom(with_skills(builtin_commands(), session.facts.skills), session.facts.commands)
    table = with_prompts(table, session.mcp.prompts)
    return tuple(command for command in table if _is_useful(command))


def _is_useful(command: Command) -> bool:
    return command.source is not Source.BUILTIN or (
        command.opens is None and command.name not in _OF_THE_EDITOR
    )


def offered(session: Session) -> AvailableCommandsUpdate:
    return update_available_commands(
        AvailableCommand(
            name=command.name,
            description=safe_line(command.summary),
            input=_input(command.argument) if command.argument else None,
        )
        for command in commands_of(session)
    )


def _input(hint: str) -> AvailableCommandInput:
    return AvailableCommandInput(UnstructuredCommandInput(hint=safe_line(hint)))


async def called(session: Session, text: str, say: Callable[[str], None]) -> str | None:
    """What is to be sent to the model in place of `text`; None where a command did all there was to do."""
    found = Commands(commands_of(session)).read(text)
    if not isinstance(found, Called):
        return text
    return _enacted(await found.command.run(session, found.argument), session, say)


def _enacted(intent: Intent, session: Session, say: Callable[[str], None]) -> str | None:
    match intent:
        case Submit(text):
            return text
        case Say(text) | ShowAgain(text):
            say(text)
        case Copy(text):
            say(text)
        case SetMode(mode):
            session.set_mode(mode)
        case OpenScreen(name, _):
            say(f"There is no {name} screen here.")
        case StartSession() | Leave():
            say("Your editor does that.")
        case _:
            assert_never(intent)
    return None
