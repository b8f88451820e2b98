"""Problems that language servers and checkers report."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How serious a problem is, most serious first."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    HINT = "hint"


class ServerStatus(StrEnum):
    """What is known from a language server about a file. Only `fresh` is about the current text."""

    FRESH = "fresh"
    PENDING = "pending"
    """It has not answered about this text yet: unknown, which does not mean clean."""
    STALE = "stale"
    """Its report is about an earlier text."""
    STARTING = "starting"
    LINTER_MISSING = "linter_missing"
    """It runs, but without the checker that finds problems."""
    NOT_INSTALLED = "not_installed"
    CRASHED = "crashed"
    UNSUPPORTED = "unsupported"
    UNTRUSTED = "untrusted"
    """The user has not trusted the folder: a server may run code of the project."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem. `path` is as shown in this session; `line` and `character` count from 1.

    `is_new` if it did not exist when the turn began.
    """

    path: str
    line: int
    character: int
    severity: Severity
    message: str
    code: str = ""
    source: str = ""
    is_new: bool = False


IS_AWAITED = frozenset({ServerStatus.PENDING, ServerStatus.STALE, ServerStatus.STARTING})
"""The states in which a report may still come."""


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """How many problems a change adds and fixes."""

    errors: int = 0
    errors_fixed: int = 0
    warnings: int = 0
    warnings_fixed: int = 0

    def __str__(self) -> str:
        """Format as `+2 errors -1, +1 warning`, or nothing if nothing changes."""
        errors = _counted("error", self.errors, self.errors_fixed)
        return ", ".join(filter(None, (errors, _counted("warning", self.warnings, self.warnings_fixed))))


def _counted(noun: str, new: int, fixed: int) -> str:
    if not new:
        return f"-{fixed} {noun}{'s' if fixed > 1 else ''}" if fixed else ""
    return f"+{new} {noun}{'s' if new > 1 else ''}{f' -{fixed}' if fixed else ''}"


@dataclass(frozen=True, slots=True)
class ProposalCheck:
    """What a change that waits for approval would do. `introduced` has the most serious new problems.

    Unless `is_known`, there may be more problems, so none does not mean clean. Unless `is_compared`, the
    problems before the change are unknown, and `counts` has all of them. `unchecked` counts files without
    their server, if the others are known.
    """

    status: ServerStatus
    counts: ChangeCounts = ChangeCounts()
    introduced: tuple[Diagnostic, ...] = ()
    detail: str = ""
    is_known: bool = False
    is_compared: bool = True
    unchecked: int = 0
