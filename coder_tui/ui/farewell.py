"""What stays on the normal screen when the program ends."""

from typing import TYPE_CHECKING

from rich.text import Text

from coder_tui.protocol.errors import UserError
from coder_tui.text.safe_text import safe_line, safe_text

if TYPE_CHECKING:  # the first paint needs neither the agent nor the events
    from coder_tui.agent.session import Session
    from coder_tui.ui.event_router import EventRouter


def last_words(error: UserError) -> Text:
    return Text(f"coder-tui: {safe_text(str(error))}")


def farewell(session: "Session | None", router: "EventRouter | None") -> Text | None:
    """The session's name and how to come back to it; nothing where there is nothing to come back to."""
    if session is None or router is None or not router.title or not session.is_kept:
        return None
    return Text(f"{safe_line(router.title)}\ncoder-tui --resume {session.id}")
