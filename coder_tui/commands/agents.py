"""Commands about who works: another agent, plan mode and back, and first instructions for a project."""

from typing import TYPE_CHECKING

from coder_tui.agent.profiles_builtin import BUILD, prompt_text
from coder_tui.commands.base import Intent, OpenScreen, Say, ScreenName, Submit
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UsageError
from coder_tui.protocol.outcomes import NoticeLevel

if TYPE_CHECKING:
    from coder_tui.agent.session import Session

PLANNING = "Plan mode: the model reads, asks and makes a plan. Nothing is changed until you approve one."
INIT_CHANGES = "/init writes a file, and plan mode changes nothing. Leave it first: /build"


async def agent(session: "Session", argument: str) -> Intent:
    if not argument:
        return OpenScreen(ScreenName.AGENTS)
    try:
        profile = session.profiles.use(argument)
    except UsageError as error:
        return Say(f"{error}", NoticeLevel.WARNING)
    return Say(f"{profile.name} works from here on: {profile.description}")


async def plan(session: "Session", argument: str) -> Intent:
    session.set_mode(Mode.PLAN)
    return Submit(argument) if argument else Say(PLANNING)


async def build(session: "Session", argument: str) -> Intent:
    session.profiles.use(BUILD)
    return Submit(argument) if argument else Say(f"The agent {BUILD} works, in mode {session.mode}.")


async def init(session: "Session", argument: str) -> Intent:
    if session.mode is Mode.PLAN:
        return Say(INIT_CHANGES, NoticeLevel.WARNING)
    asked = prompt_text("init")
    return Submit(f"{asked}\n\nBesides: {argument}" if argument else asked)
