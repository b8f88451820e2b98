"""How calls and turns end, and the levels of notices.

Separate from the events, which the first paint does not need.
"""

from enum import StrEnum


class Outcome(StrEnum):
    """How a tool call ended."""

    OK = "ok"
    FAILED = "failed"
    DENIED = "denied"
    CANCELLED = "cancelled"


class TurnOutcome(StrEnum):
    DONE = "done"
    INTERRUPTED = "interrupted"
    LIMIT = "limit"


class NoticeLevel(StrEnum):
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
