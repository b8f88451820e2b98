"""The commands of a session that people keep in files."""

import asyncio
import os
from collections.abc import Callable

from coder_tui.agent.attachments import Attach
from coder_tui.agent.command_calls import CommandCalls
from coder_tui.agent.command_loan import CommandLoan
from coder_tui.agent.session import Session
from coder_tui.agent.session_changes import SessionChanges
from coder_tui.agent.shown_command import BASH, ShownCommands
from coder_tui.agent.turn import TurnServices
from coder_tui.bootstrap.setup import Setup
from coder_tui.bootstrap.workbench import Workbench
from coder_tui.commands.custom import builtin_names
from coder_tui.protocol.events import Notice
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.shell.sandbox import home_folder
from coder_tui.skills.command_shelf import CommandPlaces, CommandShelf
from coder_tui.skills.shelf import SkillShelf


def build_commands(setup: Setup, skills: SkillShelf) -> CommandShelf:
    """Empty until it is looked through."""
    if setup.is_scratch:
        return CommandShelf(None, frozenset)
    places = CommandPlaces(setup.directory, setup.directories, home_folder(), os.environ)
    return CommandShelf(places, _taken(skills))


def _taken(skills: SkillShelf) -> Callable[[], frozenset[str]]:
    built_in = builtin_names()
    return lambda: built_in | {skill.name.lower() for skill in skills.found.skills}


def command_calls(
    setup: Setup,
    session_id: str,
    bench: Workbench,
    shelf: CommandShelf,
    changes: SessionChanges,
    services: TurnServices,
    files: Attach,
) -> Attach:
    def notify(level: NoticeLevel, text: str) -> None:
        bench.bus.publish(Notice(level, text))

    shown = ShownCommands(
        session_id, setup.directory, bench.bus, bench.desk, lambda: bench.registry.get(BASH), setup.redact
    )
    meter = services.meter
    loan = CommandLoan(bench.desk, services.request, bench.bus, lambda: meter.context_window)
    return CommandCalls(shelf, shown, changes, bench.profiles, loan, files, setup.redact, notify).of


async def bring_commands(session: Session) -> None:
    shelf = session.facts.commands
    await asyncio.to_thread(shelf.refresh)
    for problem in shelf.found.problems:
        session.notice(NoticeLevel.WARNING, problem)
