"""What language servers and checkers find in files."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """The gravest first."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    HINT = "hint"


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
