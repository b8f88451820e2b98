"""What the command line hands to the screen.

What the screen may do with stored sessions and models; the command line gives the real thing.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from coder_tui.protocol.errors import UserError
from coder_tui.ui.draw.glyphs import ThinkingLevel
from coder_tui.ui.keymap import KeyMap

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.config.inventory import ProjectInventory
    from coder_tui.llm.catalog import CatalogEntry
    from coder_tui.storage.records import SessionInfo
    from coder_tui.storage.search import Hit
    from coder_tui.ui.first_run import FirstRunState


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


class ProjectTrust(Protocol):
    """Asked before a session opens; an answer holds for the content that was shown."""

    async def question(self) -> "ProjectInventory | None":
        """What the project brings along; None where there is nothing to ask."""

    async def accept(self, inventory: "ProjectInventory") -> None: ...

    async def refuse(self, inventory: "ProjectInventory") -> None: ...


class NothingToTrust:
    """For a folder of the program's own."""

    async def question(self) -> "ProjectInventory | None":
        return None

    async def accept(self, inventory: "ProjectInventory") -> None:
        """There was no question."""

    async def refuse(self, inventory: "ProjectInventory") -> None:
        """There was no question."""


class FirstRun(Protocol):
    """Asked before a session opens."""

    async def question(self) -> "FirstRunState | None":
        """None where there is a model."""

    async def keep_key(self, provider: str, key: str) -> str:
        """Use a key from now on; returns what to tell. `UserError` where it can be no key."""


class ModelKnown:
    """For a screen that has its model."""

    async def question(self) -> "FirstRunState | None":
        return None

    async def keep_key(self, provider: str, key: str) -> str:
        raise UserError("There is a model already.")


class AnswerKeys(StrEnum):
    """What answers a request: letters that stay alone for a moment, or chords only."""

    LETTERS = "letters"
    CHORD = "chord"


async def nothing_known() -> str:
    """For a screen that stands alone."""
    return "Nothing is known of the surroundings here."


async def nothing_kept(value: str) -> str:
    """For a screen that has no settings."""
    raise UserError("There are no settings here to keep it in.")


@dataclass(frozen=True, slots=True)
class Launch:
    """`open_session` is awaited after the first paint; `clean_up` is for an end that cannot come back.

    `edits` is a private folder for what is rewritten in an editor.
    """

    directory: Path
    theme: str
    use_ascii: bool
    open_session: "Callable[[], Awaitable[Session]]"
    theme_directory: Path | None = None
    clean_up: Callable[[], None] = lambda: None
    thinking: ThinkingLevel = ThinkingLevel.SUMMARY
    has_motion: bool = True
    keeps_transcript: bool = False
    """Whether the whole session is wanted as text when it is left."""
    edits: Path | None = None
    pictures: Path | None = None
    """A private folder for what is pasted as a picture."""
    unsent: Path | None = None
    """A private folder for what is typed and not sent yet; None keeps nothing of it."""
    answer_keys: AnswerKeys = AnswerKeys.LETTERS
    trust: ProjectTrust = field(default_factory=NothingToTrust)
    keep_theme: Callable[[str], Awaitable[str]] = nothing_kept
    """Writes a theme's name into the person's settings; returns the file. `UserError` where it cannot."""
    doctor: Callable[[], Awaitable[str]] = nothing_known
    """Reports what is installed, and what is missing."""
    shelf: Callable[[], Shelf] = EmptyShelf
    """Asked anew each time: what it stands on is opened behind the first paint."""
    keys: KeyMap = field(default_factory=KeyMap)
    first_run: FirstRun = field(default_factory=ModelKnown)
