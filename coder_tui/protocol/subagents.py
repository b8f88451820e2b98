"""The state of a sub-agent: a row below the call that started it."""

from dataclasses import dataclass
from enum import StrEnum


class ChildState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    OK = "ok"
    FAILED = "failed"
    STOPPED = "stopped"

    @property
    def is_over(self) -> bool:
        return self in {ChildState.OK, ChildState.FAILED, ChildState.STOPPED}


@dataclass(frozen=True, slots=True)
class ChildLine:
    """One row. `agent` is its name among its siblings, `task` the first line of its objective."""

    child_id: str
    agent: str
    task: str
    state: ChildState = ChildState.QUEUED
    doing: str = ""
    """What it is doing. Empty after it has ended."""
    summary: str = ""
    seconds: int = 0
    cost: float | None = None
