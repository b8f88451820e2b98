"""What language servers and checkers find in files."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """The gravest first."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    HINT = "hint"


class ServerStatus(StrEnum):
    """How far a language server can be relied on about a file; only `fresh` speaks of this very text."""

    FRESH = "fresh"
    PENDING = "pending"
    """It has not answered about this text yet: not known, which is not clean."""
    STALE = "stale"
    """What it said is about an earlier text."""
    STARTING = "starting"
    LINTER_MISSING = "linter_missing"
    """It runs, yet without the checker that finds problems."""
    NOT_INSTALLED = "not_installed"
    CRASHED = "crashed"
    UNSUPPORTED = "unsupported"
    UNTRUSTED = "untrusted"
    """The folder waits for a person's trust: a server may run what a project brings along."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """`path` as files are named in this session; `line` and `character` count from 1.

    `is_new` when it was not there as the turn began.
    """

    path: str
    line: int
    character: int
    severity: Severity
    message: str
    code: str = ""
    source: str = ""
    is_new: bool = False
