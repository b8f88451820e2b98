"""Builds the request for the model from what the session is now.

The system prompt: a prefix that stays the same, byte for byte, from turn to turn.
"""

import platform
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from pathlib import Path

from coder_tui.agent.profiles.profiles import PLAN, Profile, prompt_text
from coder_tui.llm.client import ModelRequest, ToolDefinition
from coder_tui.llm.traits import ModelFamily, traits_of
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.messages import Message
from coder_tui.tools.base import Audience
from coder_tui.tools.registry import AnyTool, Registry

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


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model and how to reach it."""

    name: str
    api_base: str = ""
    effort: str = ""
    max_tokens: int | None = None


class RequestBuilder:
    """Tools and prompt are the same bytes each time while model and profile stay: providers cache them."""

    def __init__(
        self,
        choice: ModelChoice,
        registry: Registry,
        briefing: Briefing,
        profile: Callable[[], Profile],
        audience: Audience = Audience.MAIN,
    ) -> None:
        self._registry = registry
        self._briefing = briefing
        self._profile = profile
        self._audience = audience
        self._choice = choice
        self._tools: tuple[ToolDefinition, ...] = ()
        self._tools_for: tuple[object, ...] = ()

    @property
    def model(self) -> str:
        return self._choice.name

    @property
    def briefing(self) -> Briefing:
        return self._briefing

    @property
    def choice(self) -> ModelChoice:
        return self._choice

    def use(self, choice: ModelChoice) -> None:
        """Requests go to this model from now on, with the tools that it is offered."""
        self._choice = choice

    def offered(self) -> tuple[AnyTool, ...]:
        """The tools that the model sees now."""
        profile = self._profile()
        tools = self._registry.offered(traits_of(self.model), self._audience)
        return tuple(tool for tool in tools if profile.offers(tool.name, tool.kind))

    def parts(self) -> tuple[PromptPart, ...]:
        return self._briefing.parts(self._profile(), traits_of(self.model).family)

    def __call__(self, messages: tuple[Message, ...]) -> ModelRequest:
        choice = self._choice
        return ModelRequest(
            model=choice.name,
            system=self._briefing.text(self._profile(), traits_of(choice.name).family),
            messages=messages,
            tools=self._definitions(),
            api_base=choice.api_base,
            effort=choice.effort,
            max_tokens=choice.max_tokens,
        )

    def _definitions(self) -> tuple[ToolDefinition, ...]:
        """Made anew only where they would differ: each reads the files of all descriptions."""
        profile = self._profile()
        wanted = (self.model, profile, self._registry.version)
        if self._tools_for != wanted:
            self._tools = self._registry.definitions(
                traits_of(self.model), self._audience, lambda tool: profile.offers(tool.name, tool.kind)
            )
            self._tools_for = wanted
        return self._tools
