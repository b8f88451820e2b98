"""What the command line hands to the screen, stored sessions and models among it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from coder_tui.protocol.errors import UserError
from coder_tui.ui.glyphs import ThinkingLevel
from coder_tui.ui.keymap import KeyMap

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.config.inventory import ProjectInventory
    from coder_tui.llm.catalog import CatalogEntry
    from coder_tui.storage.index import Hit
    from coder_tui.storage.records import SessionInfo
    from coder_tui.ui.first_run import FirstRunState


NOTHING = "No sessions are stored here."


class Library(Protocol):
    """Stored sessions and models. What fails raises `UserError` with a sentence.

    The methods here are those of an empty library.
    """

    async def sessions(self, *, everywhere: bool) -> "tuple[SessionInfo, ...]":
        """Return those of this folder or of all, most recently used first."""
        return ()

    async def search(self, words: str, *, everywhere: bool) -> "tuple[Hit, ...]":
        """Return those that contain all words, most recently used first."""
        return ()

    async def open_elsewhere(self) -> frozenset[str]:
        """Return the sessions that other processes have open."""
        return frozenset()

    async def rename(self, session_id: str, title: str) -> None:
        raise UserError(NOTHING)

    async def delete(self, session_id: str) -> None:
        """Delete it; it can be restored for a while."""
        raise UserError(NOTHING)

    async def restore(self, *, everywhere: bool) -> "SessionInfo":
        """Restore the one that was deleted last."""
        raise UserError(NOTHING)

    async def open(self, session_id: str) -> "Session":
        """Resume a stored session, or start a new one for an empty id; the present one is closed."""
        raise UserError(NOTHING)

    async def models(self, *, looks_around: bool) -> "tuple[CatalogEntry, ...]":
        """Return models to offer; looking around finds local servers, and takes a moment."""
        return ()

    async def use_model(self, name: str) -> None:
        """Use it from the next turn on."""
        raise UserError(NOTHING)

    async def keep_key(self, model: str, key: str) -> str:
        """Store a key for the model's provider; return a sentence for the user."""
        raise UserError(NOTHING)


class EmptyLibrary(Library):
    """For a screen that shows one session and nothing else."""


class ProjectTrust(Protocol):
    """Asked before a session opens; an answer applies to the content that was shown."""

    async def question(self) -> "ProjectInventory | None":
        """Return what the project includes; None if there is nothing to ask."""
        return None

    async def accept(self, inventory: "ProjectInventory") -> None:
        return None

    async def refuse(self, inventory: "ProjectInventory") -> None:
        return None


class NothingToTrust(ProjectTrust):
    """For a folder that belongs to the program."""


class FirstRun(Protocol):
    """Asked before a session opens."""

    async def question(self) -> "FirstRunState | None":
        """Return None if there is a model."""
        return None

    async def keep_key(self, provider: str, key: str) -> str:
        """Store a key; return a sentence for the user. Raise `UserError` if it cannot be a key."""
        raise UserError("A model is already set.")


class ModelKnown(FirstRun):
    """For a screen that has its model."""


class AnswerKeys(StrEnum):
    """What answers a request: letters that stay alone for a moment, or chords only."""

    LETTERS = "letters"
    CHORD = "chord"


async def nothing_known() -> str:
    """For a screen without a command line around it."""
    return "No report is available here."


async def nothing_kept(value: str) -> str:
    """For a screen that has no settings."""
    raise UserError("There is no settings file here to save it to.")


@dataclass(frozen=True, slots=True)
class Launch:
    """`open_session` is awaited after the first paint; `clean_up` runs if the program has to end at once.

    `edits` is a private folder for what is edited in an external editor.
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
    """Whether to print the whole session as text at the end."""
    edits: Path | None = None
    pictures: Path | None = None
    """A private folder for pasted pictures."""
    drafts: Path | None = None
    """A private folder for unsent text; if None, it is not saved."""
    answer_keys: AnswerKeys = AnswerKeys.LETTERS
    trust: ProjectTrust = field(default_factory=NothingToTrust)
    keep_theme: Callable[[str], Awaitable[str]] = nothing_kept
    """Writes a theme's name into the user's settings and returns the file, or raises `UserError`."""
    doctor: Callable[[], Awaitable[str]] = nothing_known
    """Reports what is installed, and what is missing."""
    library: Callable[[], Library] = EmptyLibrary
    """Called each time: the store behind it is opened after the first paint."""
    keys: KeyMap = field(default_factory=KeyMap)
    first_run: FirstRun = field(default_factory=ModelKnown)
