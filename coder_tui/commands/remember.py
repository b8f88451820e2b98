"""The command that writes a fact into the instructions of a project, or of the person."""

from typing import TYPE_CHECKING

from coder_tui.commands.base import Intent, Say
from coder_tui.protocol.errors import ToolError
from coder_tui.protocol.outcomes import NoticeLevel

if TYPE_CHECKING:
    from coder_tui.agent.session import Session

USAGE = "Say what: /remember TEXT, or /remember project TEXT, /remember user TEXT."


async def remember(session: "Session", argument: str) -> Intent:
    from coder_tui.agent.rest import BUSY
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
