"""What the screen may do with stored sessions and models; the command line gives the real thing."""

from typing import TYPE_CHECKING, Protocol

from coder_tui.protocol.errors import UserError

if TYPE_CHECKING:  # the first paint needs neither the agent nor the store
    from coder_tui.agent.session import Session
    from coder_tui.llm.catalog import CatalogEntry
    from coder_tui.storage.records import SessionInfo
    from coder_tui.storage.search import Hit

NOTHING = "There is nothing stored here."


class Shelf(Protocol):
    """What cannot be done raises `UserError` with a sentence."""

    async def sessions(self, *, everywhere: bool) -> "tuple[SessionInfo, ...]":
        """Of this folder or of all, the one used last first."""

    async def search(self, words: str, *, everywhere: bool) -> "tuple[Hit, ...]":
        """Those in which all words were said, the one used last first."""

    async def open_elsewhere(self) -> frozenset[str]:
        """The sessions that other programs have open."""

    async def rename(self, session_id: str, title: str) -> None: ...

    async def delete(self, session_id: str) -> None:
        """Until it is brought back; after a while for good."""

    async def restore(self, *, everywhere: bool) -> "SessionInfo":
        """Bring back the one that was deleted last."""

    async def open(self, session_id: str) -> "Session":
        """Go on with a stored session, or begin a new one for an empty id; the present one is closed."""

    async def models(self, *, looks_around: bool) -> "tuple[CatalogEntry, ...]":
        """Models worth offering; looking around finds local servers, and takes a moment."""

    async def use_model(self, name: str) -> None:
        """From the next turn on."""

    async def keep_key(self, model: str, key: str) -> str:
        """Use a key for the model's provider from now on; returns what to tell."""


class EmptyShelf:
    """For a screen that shows one session and nothing else."""

    async def sessions(self, *, everywhere: bool) -> "tuple[SessionInfo, ...]":
        return ()

    async def search(self, words: str, *, everywhere: bool) -> "tuple[Hit, ...]":
        return ()

    async def open_elsewhere(self) -> frozenset[str]:
        return frozenset()

    async def rename(self, session_id: str, title: str) -> None:
        raise UserError(NOTHING)

    async def delete(self, session_id: str) -> None:
        raise UserError(NOTHING)

    async def restore(self, *, everywhere: bool) -> "SessionInfo":
        raise UserError(NOTHING)

    async def open(self, session_id: str) -> "Session":
        raise UserError(NOTHING)

    async def models(self, *, looks_around: bool) -> "tuple[CatalogEntry, ...]":
        return ()

    async def use_model(self, name: str) -> None:
        raise UserError(NOTHING)

    async def keep_key(self, model: str, key: str) -> str:
        raise UserError(NOTHING)
