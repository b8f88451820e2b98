"""The system prompt: a prefix that stays the same, byte for byte, from turn to turn."""

import platform
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from pathlib import Path

from coder_tui.agent.profiles import Profile
from coder_tui.agent.profiles_builtin import PLAN, prompt_text
from coder_tui.llm.traits import ModelFamily
from coder_tui.protocol.access import ToolKind

_RULES = "rules"
_PLAN_HEAD = (
    "The person approved this plan. Carry it out; where it turns out to be wrong, say so before you leave it."
)


class PartName(StrEnum):
    """What a part of the prompt is, as `/context` shows it."""

    SYSTEM = "system prompt"
    INSTRUCTIONS = "instructions"
    SKILLS = "skills"
    PLAN = "plan"


@dataclass(frozen=True, slots=True)
class PromptPart:
    name: PartName
    text: str


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


def nothing() -> str:
    """For a part of the prompt that a session does not have."""
    return ""


@dataclass(frozen=True, slots=True)
class Briefing:
    """What the model is told besides the conversation. Its functions give one text while nothing changes."""

    environment: Environment
    instructions: str = ""
    skills: Callable[[], str] = field(default=nothing)
    """The catalogue of skills."""
    plan: Callable[[], str] = field(default=nothing)
    """The plan that the person approved."""

    def parts(self, profile: Profile, family: ModelFamily) -> tuple[PromptPart, ...]:
        """What changes least comes first: a provider's cache ends where the first byte differs."""
        parts = [
            *(PromptPart(PartName.SYSTEM, text) for text in _role(profile, family)),
            PromptPart(PartName.INSTRUCTIONS, self.instructions),
            PromptPart(PartName.SKILLS, self.skills() if profile.offers("skill", ToolKind.READ) else ""),
            PromptPart(PartName.SYSTEM, self.environment.describe()),
            PromptPart(PartName.PLAN, "" if profile.name == PLAN else _pinned(self.plan())),
        ]
        return tuple(part for part in parts if part.text)

    def text(self, profile: Profile, family: ModelFamily) -> str:
        return "\n\n".join(part.text for part in self.parts(profile, family))


def _role(profile: Profile, family: ModelFamily) -> tuple[str, ...]:
    """How to change files is of no use to a profile that cannot."""
    common = (profile.prompt, prompt_text(_RULES))
    edits = any(profile.offers(tool, ToolKind.EDIT) for tool in ("edit", "apply_patch"))
    return (*common, prompt_text(f"family_{family}")) if edits else common


def _pinned(plan: str) -> str:
    return f"<plan>\n{_PLAN_HEAD}\n\n{plan}\n</plan>" if plan else ""
