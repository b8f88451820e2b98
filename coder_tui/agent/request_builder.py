"""Builds the request for the model from what the session is now."""

from collections.abc import Callable
from dataclasses import dataclass

from coder_tui.agent.profiles import Profile
from coder_tui.agent.prompt import Briefing, PromptPart
from coder_tui.llm.client import ModelRequest, ToolDefinition
from coder_tui.llm.traits import traits_of
from coder_tui.protocol.messages import Message
from coder_tui.tools.base import Audience
from coder_tui.tools.registry import AnyTool, Registry


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
