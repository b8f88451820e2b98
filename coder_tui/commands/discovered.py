"""Commands that people keep in files: `/name` calls one.

Prompts of MCP servers as commands: `/server:prompt` calls one.

Skills as commands: `/name` calls one.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from coder_tui.commands.base import Command, Intent, Run, Say, Source, Submit
from coder_tui.commands.builtin import builtin_commands
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.text.safe_text import safe_line

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.mcp.prompts import OfferedPrompt
    from coder_tui.skills.command_files import CommandFile, CommandShelf
    from coder_tui.skills.session_skills import SkillShelf
    from coder_tui.skills.skill import Skill


ANY_ARGUMENTS = "[ARGUMENTS]"


def with_custom(commands: Iterable[Command], shelf: "CommandShelf") -> tuple[Command, ...]:
    """The commands, then one for each file; their names are free already."""
    table = {command.name: command for command in commands}
    for command in shelf.found.commands:
        table.setdefault(command.name, _custom_command(command))
    return tuple(table.values())


def builtin_names() -> frozenset[str]:
    """What no file may be called."""
    return frozenset(command.name for command in builtin_commands())


def _custom_command(command: "CommandFile") -> Command:
    return Command(
        command.name,
        safe_line(command.description),
        _custom_caller(command.name),
        _hint(command),
        source=Source.OWN if command.is_own else Source.PROJECT,
    )


def _hint(command: "CommandFile") -> str:
    """In brackets: no command is kept from running because nothing stands behind its name."""
    hint = safe_line(command.argument_hint)
    return hint if hint.startswith("[") else f"[{hint}]" if hint else ANY_ARGUMENTS


def _custom_caller(name: str) -> Run:
    async def run(session: "Session", argument: str) -> Intent:
        # The message itself calls the command, wherever it comes from; what it says goes along.
        return Submit(f"/{name} {argument}".rstrip())

    return run


def with_prompts(commands: Iterable[Command], prompts: "Iterable[OfferedPrompt]") -> tuple[Command, ...]:
    """The commands, then one for each prompt whose name is still free."""
    table = {command.name: command for command in commands}
    for prompt in prompts:
        table.setdefault(prompt.command, _prompt_command(prompt))
    return tuple(table.values())


def _prompt_command(prompt: "OfferedPrompt") -> Command:
    words = safe_line(prompt.info.description or prompt.info.name)
    return Command(prompt.command, words, _prompt_caller(prompt), safe_line(prompt.usage), source=Source.MCP)


def _prompt_caller(prompt: "OfferedPrompt") -> Run:
    async def run(session: "Session", argument: str) -> Intent:
        from coder_tui.mcp.prompts import PromptArgumentsError  # the menu is needed before

        try:
            prompt.filled(argument)
        except PromptArgumentsError as error:
            return Say(f"{error}", NoticeLevel.WARNING)
        # The message itself calls the prompt; what the server says goes along.
        return Submit(f"/{prompt.command} {argument}".rstrip())

    return run


ANY_TASK = "[what to do]"


def with_skills(commands: Iterable[Command], shelf: "SkillShelf") -> tuple[Command, ...]:
    """The commands, then a command for each skill whose name is still free."""
    table = {command.name: command for command in commands}
    for skill in shelf.callable_by_person():
        table.setdefault(skill.name.lower(), _skill_command(skill))
    return tuple(table.values())


def _skill_command(skill: "Skill") -> Command:
    return Command(
        skill.name.lower(),
        safe_line(skill.description),
        _skill_caller(skill.name),
        safe_line(skill.argument_hint) or ANY_TASK,
        source=Source.SKILL if skill.source.is_own else Source.PROJECT_SKILL,
    )


def _skill_caller(name: str) -> Run:
    async def run(session: "Session", argument: str) -> Intent:
        # The message itself calls the skill, wherever it comes from; its text goes along.
        return Submit(f"/{name} {argument}".rstrip())

    return run
