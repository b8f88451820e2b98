"""Commands that lead to other sessions: forks of this one, and those that are found by words."""

from typing import TYPE_CHECKING

from coder_tui.commands.base import Intent, OpenScreen, Say, ScreenName, StartSession
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.outcomes import NoticeLevel

if TYPE_CHECKING:
    from coder_tui.agent.session import Session


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
