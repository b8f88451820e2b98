"""What a slash command is: words for the menu, and a function from its argument to an intent."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from coder_tui.protocol.access import Mode
from coder_tui.protocol.outcomes import NoticeLevel

if TYPE_CHECKING:  # the menu is needed before the agent is loaded
    from coder_tui.agent.session import Session


class ScreenName(StrEnum):
    """What a command can open; the front end knows how."""

    HELP = "help"
    MODELS = "models"
    THEMES = "themes"
    SESSIONS = "sessions"
    MODES = "modes"
    AGENTS = "agents"
    REVIEW = "review"
    CHANGES = "changes"
    SUBAGENTS = "subagents"
    TODOS = "todos"
    PROBLEMS = "problems"
    FILES = "files"
    JOBS = "jobs"
    LSP = "lsp"
    MCP = "mcp"
    MOUSE = "mouse"
    TRUST = "trust"
    SKILLS = "skills"
    DOCTOR = "doctor"
    LOG = "log"
    FIND = "find"
    BROWSE = "browse"
    FOLD = "fold"
    THINKING = "thinking"


class Source(StrEnum):
    """Where a command comes from, as the menu labels it."""

    BUILTIN = "built-in"
    SKILL = "skill"
    PROJECT_SKILL = "project skill"
    OWN = "your command"
    PROJECT = "project command"
    MCP = "mcp"

    @property
    def is_from_others(self) -> bool:
        """Whether neither the program nor a skill of the person's brought it."""
        return self not in (Source.BUILTIN, Source.SKILL)


@dataclass(frozen=True, slots=True)
class Say:
    """Tell the person; the model does not hear of it."""

    text: str
    level: NoticeLevel = NoticeLevel.INFO


@dataclass(frozen=True, slots=True)
class Submit:
    """Send a message in the person's name."""

    text: str


@dataclass(frozen=True, slots=True)
class OpenScreen:
    """`argument` is what stood behind the command: a session's id, a model's name."""

    name: ScreenName
    argument: str = ""


@dataclass(frozen=True, slots=True)
class StartSession:
    """Leave this session for another: a new one, or the one with this id; `told` is said there."""

    session_id: str = ""
    told: str = ""


@dataclass(frozen=True, slots=True)
class ShowAgain:
    """The session's conversation is another now; `draft` is offered in the prompt where that is empty."""

    text: str
    level: NoticeLevel = NoticeLevel.INFO
    draft: str = ""


@dataclass(frozen=True, slots=True)
class SetMode:
    mode: Mode


@dataclass(frozen=True, slots=True)
class Copy:
    text: str


@dataclass(frozen=True, slots=True)
class Leave:
    """End the program."""


Intent = Say | Submit | OpenScreen | StartSession | ShowAgain | SetMode | Copy | Leave

Run = Callable[["Session", str], Awaitable[Intent]]


@dataclass(frozen=True, slots=True)
class Command:
    """`argument` shows in the menu what may follow the name; `opens` is a screen that must exist for it."""

    name: str
    summary: str
    run: Run
    argument: str = ""
    opens: ScreenName | None = None
    source: Source = Source.BUILTIN
    holds_messages: bool = False
    """Whether what is sent meanwhile waits for its end."""
    can_be_stopped: bool = False
    """Whether it can take its time, and leaves everything as it was where it is cut off."""
