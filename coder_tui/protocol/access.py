"""What a call would touch, as data that policy, tools and screens share."""

from dataclasses import dataclass
from enum import StrEnum


class ToolKind(StrEnum):
    READ = "read"
    EDIT = "edit"
    DELETE = "delete"
    MOVE = "move"
    SEARCH = "search"
    EXECUTE = "execute"
    THINK = "think"
    FETCH = "fetch"
    OTHER = "other"

    @property
    def mutates(self) -> bool:
        return self in {ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE, ToolKind.EXECUTE}


BY_USER = "you"
"""Shown instead of a tool's name if the user ran a command."""
VERIFY = "verify"
"""Shown instead of a tool's name if the project's check ran."""


class TargetKind(StrEnum):
    PATH = "path"
    COMMAND = "command"
    ADDRESS = "address"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Target:
    """One thing that a call touches. `value` is an absolute path, a whole command line or a URL."""

    kind: TargetKind
    value: str
    writes: bool = False


class Mode(StrEnum):
    """How much runs without asking."""

    ASK = "ask"
    EDITS = "edits"
    AUTO = "auto"
    PLAN = "plan"
