"""What a project brings along, item by item, for a person who decides whether to trust it."""

from dataclasses import dataclass
from enum import StrEnum


class ItemKind(StrEnum):
    RULE = "allow rule"
    STRICTER = "stricter rule"
    MODEL = "model"
    ADDRESS = "address"
    ENVIRONMENT = "environment"
    COMMAND = "command"
    HOOK = "hook"
    MCP = "mcp server"
    LSP = "language server"
    FOLDER = "folder"
    SANDBOX = "sandbox"
    SETTING = "setting"
    NEVER = "never used"
    UNREADABLE = "unreadable"
    EXTENSION = "extension"
    GIT = "git"
    INSTRUCTIONS = "instructions"
    SCRIPT = "script"
    SKILL = "skill"
    AGENT = "agent"
    TOOL = "tool"
    PROMPT = "slash command"


@dataclass(frozen=True, slots=True)
class ProjectItem:
    """One thing; `needs_trust` tells what trust would switch on from what is only worth knowing."""

    kind: ItemKind
    file: str
    line: int
    sentence: str
    needs_trust: bool = True

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class FileState:
    """A file that trust is about, as it was when it was looked at."""

    name: str
    sha256: str
    is_trusted: bool
    is_own: bool = False
    """The person had it written here: by that nobody said yes to anything else of the project."""


@dataclass(frozen=True, slots=True)
class ProjectInventory:
    """`workspace` is resolved; `files` are those that trust would bind to their present content."""

    workspace: str
    files: tuple[FileState, ...] = ()
    items: tuple[ProjectItem, ...] = ()

    @property
    def is_trusted(self) -> bool:
        """Nothing waits for an answer; true where there is nothing to trust."""
        return all(file.is_trusted for file in self.files)

    @property
    def is_vouched_for(self) -> bool:
        """A person said yes to what the project brings."""
        return self.is_trusted and any(not file.is_own for file in self.files)

    @property
    def questions(self) -> tuple[ProjectItem, ...]:
        """What trust would switch on."""
        return tuple(item for item in self.items if item.needs_trust)
