"""The system prompt: a prefix that stays the same, byte for byte, from turn to turn."""

import platform
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from pathlib import Path

from coder_tui.protocol.access import Mode


@cache
def _text(name: str) -> str:
    return files("coder_tui.agent").joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8").strip()


@dataclass(frozen=True, slots=True)
class Environment:
    """What a model must know of the place; a date but no clock, so that provider caches keep hitting."""

    directory: Path
    today: date
    has_git: bool

    @classmethod
    def here(cls, directory: Path, today: date) -> "Environment":
        return cls(directory, today, (directory / ".git").exists())

    def describe(self) -> str:
        lines = [
            f"Working directory: {self.directory}",
            f"Git repository: {'yes' if self.has_git else 'no'}",
            f"Platform: {platform.system()} {platform.machine()}",
            f"Today: {self.today.isoformat()}",
        ]
        return "\n".join(["<environment>", *lines, "</environment>"])


def system_prompt(environment: Environment, mode: Mode) -> str:
    """Stable parts first; what a mode adds comes last."""
    parts = [_text("build"), environment.describe()]
    if mode is Mode.PLAN:
        parts.append(_text("plan"))
    return "\n\n".join(parts)
