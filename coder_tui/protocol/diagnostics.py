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


IS_AWAITED = frozenset({ServerStatus.PENDING, ServerStatus.STALE, ServerStatus.STARTING})
"""Where a word may still come."""


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """What a change does to the problems of files, in numbers."""

    errors: int = 0
    errors_fixed: int = 0
    warnings: int = 0
    warnings_fixed: int = 0

    def __str__(self) -> str:
        """`+2 errors -1, +1 warning`; nothing where nothing comes or goes."""
        errors = _counted("error", self.errors, self.errors_fixed)
        return ", ".join(filter(None, (errors, _counted("warning", self.warnings, self.warnings_fixed))))


def _counted(noun: str, new: int, fixed: int) -> str:
    if not new:
        return f"-{fixed} {noun}{'s' if fixed > 1 else ''}" if fixed else ""
    return f"+{new} {noun}{'s' if new > 1 else ''}{f' -{fixed}' if fixed else ''}"


@dataclass(frozen=True, slots=True)
class ProposalCheck:
    """What a change that waits for an answer would do; `introduced` are the gravest of the new problems.

    Unless `is_known` there may be more, and none is no good news. Where it is not `is_compared` nobody knows
    which problems were there before, and `counts` are of all there are. `unchecked` counts files without
    their server where all is known of the others.
    """

    status: ServerStatus
    counts: ChangeCounts = ChangeCounts()
    introduced: tuple[Diagnostic, ...] = ()
    detail: str = ""
    is_known: bool = False
    is_compared: bool = True
    unchecked: int = 0
