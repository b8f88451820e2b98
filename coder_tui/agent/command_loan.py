"""What a command from a file changes for the turn that it was called in, and gives back with it."""

from collections.abc import Callable
from dataclasses import replace

from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.permissions import PermissionDesk
from coder_tui.agent.profiles import Profile, ProfileMode
from coder_tui.agent.profiles_tools import MeantTools
from coder_tui.agent.request_builder import ModelChoice, RequestBuilder
from coder_tui.llm.providers import is_same_provider
from coder_tui.protocol.events import Event, ModelChanged, TurnFailed, TurnFinished
from coder_tui.skills.command_file import CommandFile


class CommandLoan:
    """Serves one session; listens to its bus for the end of the turn."""

    def __init__(
        self,
        desk: PermissionDesk,
        request: RequestBuilder,
        bus: EventBus,
        window: Callable[[], int | None],
    ) -> None:
        """`window` tells how much the session's own model takes in."""
        self._desk = desk
        self._request = request
        self._bus = bus
        self._window = window
        self._before: ModelChoice | None = None
        self._lent: ModelChoice | None = None
        bus.subscribe(self._hear)

    def narrow(self, command: CommandFile) -> tuple[str, ...]:
        """Only the tools that the command names may be called, under the rules that hold anyway."""
        if not command.allowed_tools:
            return ()
        tools = MeantTools(command.label)
        given = command.allowed_tools
        tools.only(given[0] if len(given) == 1 else given)
        limits = Profile(
            f"of /{command.name}",
            command.description,
            ProfileMode.ALL,
            "",
            tuple(tools.switches),
            tuple(tools.rules),
            source=command.label,
        )
        self._desk.narrow(limits)
        return tuple(f"{command.label}: {problem}" for _, problem in tools.problems)

    def lend_model(self, command: CommandFile) -> str:
        """The model that the command names answers; why not, where it does not."""
        name, own = command.model, self._request.choice
        if "/" not in name or name == own.name:
            # `sonnet` and its like mean another program's choice of the day.
            return ""
        is_same = is_same_provider(name, own.name)
        if not is_same and not command.is_own:
            return (
                f"/{command.name} names {name}, a model of another provider: a project does not choose that"
            )
        self._before = self._before or own
        self._lent = replace(own, name=name, api_base=own.api_base if is_same else "")
        self._use(self._lent, None)
        return ""

    def _use(self, choice: ModelChoice, window: int | None) -> None:
        self._request.use(choice)
        self._bus.publish(ModelChanged(choice.name, window))

    def _hear(self, event: Event) -> None:
        if not isinstance(event, TurnFinished | TurnFailed):
            return
        self._desk.narrow(None)
        before, self._before = self._before, None
        # A person who chose another one meanwhile keeps it.
        if before is not None and self._request.choice == self._lent:
            self._use(before, self._window())
