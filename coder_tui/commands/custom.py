"""Commands that people keep in files: `/name` calls one."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from coder_tui.commands.base import Command, Intent, Run, Source, Submit
from coder_tui.commands.catalogue import builtin_commands
from coder_tui.text.safe_text import safe_line

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.skills.command_file import CommandFile
    from coder_tui.skills.command_shelf import CommandShelf

ANYTHING = "[ARGUMENTS]"


def with_custom(commands: Iterable[Command], shelf: "CommandShelf") -> tuple[Command, ...]:
    """The commands, then one for each file; their names are free already."""
    table = {command.name: command for command in commands}
    for command in shelf.found.commands:
        table.setdefault(command.name, _command(command))
    return tuple(table.values())


def builtin_names() -> frozenset[str]:
    """What no file may be called."""
    return frozenset(command.name for command in builtin_commands())


def _command(command: "CommandFile") -> Command:
    return Command(
        command.name,
        safe_line(command.description),
        _caller(command.name),
        _hint(command),
        source=Source.OWN if command.is_own else Source.PROJECT,
    )


def _hint(command: "CommandFile") -> str:
    """In brackets: no command is kept from running because nothing stands behind its name."""
    hint = safe_line(command.argument_hint)
    return hint if hint.startswith("[") else f"[{hint}]" if hint else ANYTHING


def _caller(name: str) -> Run:
    async def run(session: "Session", argument: str) -> Intent:
        # The message itself calls the command, wherever it comes from; what it says goes along.
        return Submit(f"/{name} {argument}".rstrip())

    return run
