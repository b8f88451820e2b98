"""Extends trust to instructions that a person had written by this program, and approved."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from coder_tui.config.paths import Directories
from coder_tui.config.trust import Trust


class Vouching(Protocol):
    """Both methods block."""

    def covers(self, name: str) -> bool:
        """Whether sessions read this file, or would if there were one."""

    def vouch(self, path: Path, before: str | None, after: str) -> None:
        """The person had `after` written where `before` stood, None for nothing. May raise `StorageError`."""


class NoVouching:
    """For a session without a store of answers."""

    def covers(self, name: str) -> bool:
        return False

    def vouch(self, path: Path, before: str | None, after: str) -> None:
        return


@dataclass(frozen=True, slots=True)
class ProjectVouching:
    """Answers are read anew each time: another session may have given some."""

    directories: Directories
    workspace: Path

    def covers(self, name: str) -> bool:
        return not (self.workspace / name).exists() or Trust.load(self.directories).reads(
            self.workspace, name
        )

    def vouch(self, path: Path, before: str | None, after: str) -> None:
        if os.path.realpath(path.parent) == os.path.realpath(self.workspace):
            Trust.load(self.directories).extend(self.workspace, path.name, before, after)
