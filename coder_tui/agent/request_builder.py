"""Builds the request for the model from what the session is now."""

from collections.abc import Callable
from dataclasses import dataclass

from coder_tui.agent.prompt import Environment, system_prompt
from coder_tui.llm.client import ModelRequest
from coder_tui.llm.traits import traits_of
from coder_tui.protocol.access import Mode
from coder_tui.protocol.messages import Message
from coder_tui.tools.registry import Registry


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model and how to reach it."""

    name: str
    api_base: str = ""
    effort: str = ""
    max_tokens: int | None = None


class RequestBuilder:
    """Tools and prompt are the same bytes each time while model and mode stay: providers cache them."""

    def __init__(
        self,
        choice: ModelChoice,
        registry: Registry,
        environment: Environment,
        mode: Callable[[], Mode],
    ) -> None:
        self._registry = registry
        self._environment = environment
        self._mode = mode
        self.use(choice)

    @property
    def model(self) -> str:
        return self._choice.name

    def use(self, choice: ModelChoice) -> None:
        """Requests go to this model from now on, with the tools that it is offered."""
        self._choice = choice
        self._tools = self._registry.definitions(traits_of(choice.name))

    def __call__(self, messages: tuple[Message, ...]) -> ModelRequest:
        choice = self._choice
        return ModelRequest(
            model=choice.name,
            system=system_prompt(self._environment, self._mode()),
            messages=messages,
            tools=self._tools,
            api_base=choice.api_base,
            effort=choice.effort,
            max_tokens=choice.max_tokens,
        )
