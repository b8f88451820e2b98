"""What a slash command is: words for the menu, and a function from its argument to an intent.

`Commands` finds the command that a line means, and the ones that a beginning may become."""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from rapidfuzz import process

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
        """Whether neither the program nor a skill of the user's brought it."""
        return self not in (Source.BUILTIN, Source.SKILL)


@dataclass(frozen=True, slots=True)
class Say:
    """Tell the user; the model does not hear of it."""

    text: str
    level: NoticeLevel = NoticeLevel.INFO


@dataclass(frozen=True, slots=True)
class Submit:
    """Send a message in the user's name."""

    text: str


@dataclass(frozen=True, slots=True)
class OpenScreen:
    """`argument` is what stood behind the command: a session's id, a model's name."""

    name: ScreenName
    argument: str = ""


@dataclass(frozen=True, slots=True)
class StartSession:
    """Leave this session for another: a new one, or the one with this id; `notice` is shown there."""

    session_id: str = ""
    notice: str = ""


@dataclass(frozen=True, slots=True)
class ShowAgain:
    """The conversation has changed, so show it again; `draft` goes to the prompt if that is empty."""

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
    """Whether messages that are sent while it runs wait for its end."""
    can_be_stopped: bool = False
    """Whether it may take long, and changes nothing if it is stopped."""


# A path such as `/usr/bin` at the beginning of a message is no command.
_LINE = re.compile(r"/([A-Za-z][\w-]*(?::[\w-]+)*)(?:\s+(.*))?", re.DOTALL)
_NEAR = 60


@dataclass(frozen=True, slots=True)
class Called:
    command: Command
    argument: str


@dataclass(frozen=True, slots=True)
class Unknown:
    name: str
    nearest: tuple[str, ...]

    @property
    def sentence(self) -> str:
        hint = f" Did you mean {' or '.join(f'/{name}' for name in self.nearest)}?" if self.nearest else ""
        return f"There is no command /{self.name}.{hint}"


class Commands:
    """Commands by name, in the order of the menu."""

    def __init__(self, commands: Iterable[Command]) -> None:
        self._commands: dict[str, Command] = {}
        for command in commands:
            if command.name in self._commands:
                raise ValueError(f"a command named {command.name!r} is registered already")
            self._commands[command.name] = command

    def __iter__(self) -> Iterator[Command]:
        return iter(self._commands.values())

    def read(self, text: str) -> Called | Unknown | None:
        """Return what the text calls; None for an ordinary message."""
        match = _LINE.fullmatch(text.strip())
        if match is None:
            return None
        name, argument = match[1].lower(), (match[2] or "").strip()
        command = self._commands.get(name)
        return Unknown(match[1], self._nearest(name)) if command is None else Called(command, argument)

    def _nearest(self, name: str) -> tuple[str, ...]:
        found = process.extract(name, list(self._commands), limit=2, score_cutoff=_NEAR)
        return tuple(near for near, _, _ in found)
