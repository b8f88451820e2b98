"""Skills as commands: `/name` calls one."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from coder_tui.commands.base import Command, Intent, Run, Source, Submit
from coder_tui.text.safe_text import safe_line

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.skills.shelf import SkillShelf
    from coder_tui.skills.skill import Skill

ANYTHING = "[what to do]"


def with_skills(commands: Iterable[Command], shelf: "SkillShelf") -> tuple[Command, ...]:
    """The commands, then a command for each skill whose name is still free."""
    table = {command.name: command for command in commands}
    for skill in shelf.callable_by_person():
        table.setdefault(skill.name.lower(), _command(skill))
    return tuple(table.values())


def _command(skill: "Skill") -> Command:
    return Command(
        skill.name.lower(),
        safe_line(skill.description),
        _caller(skill.name),
        safe_line(skill.argument_hint) or ANYTHING,
        source=Source.SKILL if skill.source.is_own else Source.PROJECT_SKILL,
    )


def _caller(name: str) -> Run:
    async def run(session: "Session", argument: str) -> Intent:
        # The message itself calls the skill, wherever it comes from; its text goes along.
        return Submit(f"/{name} {argument}".rstrip())

    return run
