"""Makes forks of a session: all that was said, or what was said before one message."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coder_tui.agent.rest import BUSY
from coder_tui.agent.session_name import SessionState
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.messages import UserMessage
from coder_tui.storage.sessions import SessionInfo

if TYPE_CHECKING:  # the session holds this desk
    from coder_tui.agent.session import SessionParts

NOTHING_SAID = "There is nothing to fork yet."
GONE = "That message is no longer part of the session."


@dataclass(frozen=True, slots=True)
class Forked:
    """`told` is what a person should know of it."""

    session_id: str
    told: str


class ForkDesk:
    """Serves one session, which stays as it is; whoever asks for a fork opens it."""

    def __init__(self, parts: "SessionParts", is_busy: Callable[[], bool]) -> None:
        self._session_id = parts.info.id
        self._state: SessionState = parts.state
        self._store = parts.store
        self._conversation = parts.services.conversation
        self._is_busy = is_busy
        self._unused_at = -1

    @property
    def is_unused(self) -> bool:
        """Whether this session is a fork that nobody asked for, and nothing was sent in it yet."""
        return self._unused_at == self._state.turn

    def keep_once_used(self) -> None:
        self._unused_at = self._state.turn

    def words_of(self, message_id: str) -> str:
        """What the person wrote; `UserError` where that is taken back."""
        for message in self._conversation.backwards:
            if isinstance(message, UserMessage) and message.id == message_id:
                return message.text
        raise UserError(GONE)

    async def fork(self, before: str = "") -> Forked:
        """All of the session, or what was said before the message of this id."""
        if self._is_busy():
            raise UserError(BUSY)
        if self._conversation.is_empty:
            raise UserError(NOTHING_SAID)
        info = await self._store.fork(self._session_id, before)
        return Forked(info.id, told(self._session_id, info))


def told(session_id: str, fork: SessionInfo) -> str:
    """What is said in a fork before anything else."""
    return (
        f"This is “{fork.title}”. The session itself stays as it is; /resume {session_id} goes back to it.\n"
        "Files are as they are now; /undo in the old session takes them back."
    )
