"""Build the request for the model, with a system prompt that stays the same bytes from turn to turn."""

import platform
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from pathlib import Path

from coder_tui.agent.profiles.profiles import PLAN, Profile, prompt_text
from coder_tui.llm.client import ModelRequest, ToolDefinition
from coder_tui.llm.providers import is_same_provider
from coder_tui.llm.traits import ModelFamily, traits_of
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.messages import Message
from coder_tui.tools.base import Audience
from coder_tui.tools.registry import AnyTool, Registry

_RULES = "rules"
_PLAN_HEAD = "The user approved this plan. Carry it out; if it turns out to be wrong, say so first."


class PartName(StrEnum):
    """The parts of the prompt, as `/context` names them."""

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
    """What a model must know about its place; a date but no time, so that provider caches keep hitting."""

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
    """Return no text, for a part of the prompt that a session does not have."""
    return ""


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """The system prompt. Its functions return the same text while nothing changes."""

    environment: Environment
    instructions: str = ""
    skills: Callable[[], str] = field(default=nothing)
    """The catalog of skills."""
    plan: Callable[[], str] = field(default=nothing)
    """The plan that the user approved."""

    def parts(self, profile: Profile, family: ModelFamily) -> tuple[PromptPart, ...]:
        """Return the parts, the most stable first: a provider's cache ends at the first byte that differs."""
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
    """Leave out how to change files for a profile that cannot."""
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

    def switched_to(self, name: str) -> "ModelChoice":
        """Return the choice of another model: the key of another provider never goes to this server."""
        return replace(self, name=name, api_base=self.api_base if is_same_provider(name, self.name) else "")

    def helped_by(self, name: str) -> "ModelChoice":
        """Return the choice of a model for work on the side: effort and length were set for this one."""
        return replace(self.switched_to(name), effort="", max_tokens=None)


@dataclass(slots=True)
class ModelInUse:
    """The model that the requests of one agent go to; it can change between two requests."""

    choice: ModelChoice


@dataclass(eq=False, slots=True)
class RequestBuilder:
    """Tools and prompt are the same bytes each time while model and profile stay: providers cache them."""

    in_use: ModelInUse
    registry: Registry
    prompt: SystemPrompt
    profile: Callable[[], Profile]
    audience: Audience = Audience.MAIN
    _tools: tuple[ToolDefinition, ...] = field(default=(), init=False)
    _tools_for: tuple[object, ...] = field(default=(), init=False)

    @property
    def model(self) -> str:
        return self.in_use.choice.name

    @property
    def choice(self) -> ModelChoice:
        return self.in_use.choice

    def use(self, choice: ModelChoice) -> None:
        """Send requests to this model from now on, with the tools that it is offered."""
        self.in_use.choice = choice

    def offered(self) -> tuple[AnyTool, ...]:
        """The tools that the model sees now."""
        profile = self.profile()
        tools = self.registry.offered(traits_of(self.model), self.audience)
        return tuple(tool for tool in tools if profile.offers(tool.name, tool.kind))

    def parts(self) -> tuple[PromptPart, ...]:
        return self.prompt.parts(self.profile(), traits_of(self.model).family)

    def __call__(self, messages: tuple[Message, ...]) -> ModelRequest:
        choice = self.in_use.choice
        return ModelRequest(
            model=choice.name,
            system=self.prompt.text(self.profile(), traits_of(choice.name).family),
            messages=messages,
            tools=self._definitions(),
            api_base=choice.api_base,
            effort=choice.effort,
            max_tokens=choice.max_tokens,
        )

    def _definitions(self) -> tuple[ToolDefinition, ...]:
        """Build definitions again only if they would differ: each reads the files of all descriptions."""
        profile = self.profile()
        wanted = (self.model, profile, self.registry.version)
        if self._tools_for != wanted:
            self._tools = self.registry.definitions(
                traits_of(self.model), self.audience, lambda tool: profile.offers(tool.name, tool.kind)
            )
            self._tools_for = wanted
        return self._tools
