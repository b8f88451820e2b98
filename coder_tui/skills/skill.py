"""What a skill is, where it comes from, and what can be wrong with one."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from coder_tui.config.paths import display_path

SKILL_FILE = "SKILL.md"
NAME_LIMIT = 64
DESCRIPTION_LIMIT = 1_024
BODY_LINES = 500


class SkillSource(StrEnum):
    """Weakest first: of one name the later source holds."""

    BUILTIN = "built-in"
    USER = "user"
    PATHS = "skills.paths"
    PROJECT = "project"

    @property
    def is_own(self) -> bool:
        """Whether the person put it there, or the program: a project's comes from others."""
        return self is not SkillSource.PROJECT


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a file or folder; an error means that the skill is not used."""

    severity: Severity
    file: Path
    line: int
    message: str

    @property
    def place(self) -> str:
        shown = display_path(self.file)
        return f"{shown}:{self.line}" if self.line else shown

    def __str__(self) -> str:
        return f"{self.place}: {self.severity}: {self.message}"


@dataclass(frozen=True, slots=True)
class Skill:
    """`directory` is resolved; relative paths in the body start there."""

    name: str
    description: str
    body: str
    directory: Path
    source: SkillSource
    argument_hint: str = ""
    is_for_model: bool = True
    """False: only the person may call it."""
    project: Path | None = None
    """The folder whose trust it rests on, where it is a project's."""

    @property
    def file(self) -> Path:
        return self.directory / SKILL_FILE
