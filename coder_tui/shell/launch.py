"""A command ready to start, confined or not."""

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Launch:
    """`descriptors` are handed to the command by their numbers, and belong to this until it has started.

    `report` is where bubblewrap tells which process is the first of its namespace; -1 without one.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    descriptors: tuple[int, ...] = ()
    report: int = -1
    _open: list[int] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._open.extend(self.descriptors)

    def hand_over(self) -> None:
        """The command has its descriptors: ours are closed, so that reading `report` comes to an end."""
        while self._open:
            os.close(self._open.pop())

    def close(self) -> None:
        self.hand_over()
        if self.report >= 0:
            with contextlib.suppress(OSError):
                os.close(self.report)
