"""Commands about who works: another agent, plan mode and back, and first instructions for a project.

Commands that lead to other sessions: forks of this one, and those that are found by words.

The command that writes a fact into the instructions of a project, or of the person.

The command that runs the project's check, and chooses it.
"""

from typing import TYPE_CHECKING

from coder_tui.agent.profiles.profiles import BUILD, prompt_text
from coder_tui.commands.base import Intent, OpenScreen, Say, ScreenName, StartSession, Submit
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import ToolError, UsageError, UserError
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


async def fork(session: "Session", argument: str) -> Intent:
    """Everything that was said so far, in a session of its own."""
    try:
        made = await session.forks.fork()
    except UserError as error:
        return Say(str(error), NoticeLevel.WARNING)
    return StartSession(made.session_id, made.told)


async def search(session: "Session", argument: str) -> Intent:
    """The list of sessions, narrowed down to those in which the words were said."""
    if not argument.strip():
        return Say("Say what to look for: /search WORDS", NoticeLevel.WARNING)
    return OpenScreen(ScreenName.SESSIONS, argument)


USAGE = "Say what: /remember TEXT, or /remember project TEXT, /remember user TEXT."


async def remember(session: "Session", argument: str) -> Intent:
    from coder_tui.agent.undo.undo import BUSY
    from coder_tui.tools.builtin.memory import MemoryPlace

    first, _, rest = argument.partition(" ")
    place = MemoryPlace(first) if first in list(MemoryPlace) else None
    fact = rest.strip() if place else argument.strip()
    if not fact:
        return Say(USAGE, NoticeLevel.WARNING)
    if session.is_busy:
        return Say(BUSY, NoticeLevel.WARNING)
    try:
        path = await session.remembering.remember(fact, place)
    except ToolError as error:
        return Say(error.message, NoticeLevel.WARNING)
    return Say(f"Remembered in {path}.")


NO_COMMAND = "No check is known for this folder: /verify on COMMAND names one."


async def verify(session: "Session", argument: str) -> Intent:
    from coder_tui.agent.verify.command import CHOSEN, NONE_CHOSEN

    word, _, rest = argument.strip().partition(" ")
    verifier = session.verifier
    match word:
        case "":
            command = await verifier.command()
            if not command:
                return Say(NO_COMMAND, NoticeLevel.WARNING)
            shown = await verifier.run_now(command)
            if shown is None:
                return Say(f"`{command}` did not run.", NoticeLevel.WARNING)
            return Say(f"`{command}` " + ("passes." if not shown.exit_code else "fails."))
        case "on":
            command = rest.strip() or await verifier.choices.looks_like()
            if not command:
                return Say(NO_COMMAND, NoticeLevel.WARNING)
            await verifier.choices.choose(command)
            return Say(CHOSEN.format(command=command))
        case "off":
            await verifier.choices.choose("")
            return Say(NONE_CHOSEN)
        case _:
            return Say("Say /verify, /verify on [COMMAND] or /verify off.", NoticeLevel.WARNING)
