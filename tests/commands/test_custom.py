"""Commands from files in the menu: what they say, whose they are, and what calling one sends."""

from typing import Any

from coder_tui.commands.base import Called, Command, Commands, Intent, Source, Submit
from coder_tui.commands.builtin import ANY_ARGUMENTS, builtin_names, with_custom
from coder_tui.skills.command_files import CommandFile, CommandFiles, FoundCommands, read_command


def known(*commands: CommandFile) -> CommandFiles:
    made = CommandFiles(None, frozenset)
    made.found = FoundCommands(commands)
    return made


async def _nothing(session: object, argument: str) -> Intent:
    return Submit(argument)


OWN = read_command("git/fix.md", b"---\nargument-hint: NUMBER\n---\nFix \x1b[31m it\n", "x", is_own=True)
PROJECTS = read_command("look.md", b"Look", "x", is_own=False)
HELP = Command("help", "All keys", _nothing)


def test_the_menu_tells_whose_each_is_without_obeying_it() -> None:
    shown = [
        (command.name, command.summary, command.argument, command.source)
        for command in with_custom([HELP], known(OWN, PROJECTS))
    ]
    assert shown == [
        ("help", "All keys", "", Source.BUILTIN),
        ("git:fix", "Fix ␛[31m it", "[NUMBER]", Source.OWN),
        ("look", "Look", ANY_ARGUMENTS, Source.PROJECT),
    ]
    assert [source for source in Source if not source.is_from_others] == [Source.BUILTIN, Source.SKILL]


async def test_calling_one_sends_the_call_itself() -> None:
    called = Commands(with_custom([HELP], known(OWN))).read("/GIT:fix  12 now ")
    assert isinstance(called, Called)
    nobody: Any = None
    assert await called.command.run(nobody, called.argument) == Submit("/git:fix 12 now")


def test_every_built_in_name_is_taken() -> None:
    assert {"help", "undo", "quit"} <= builtin_names()
