"""Changes a session's model between turns: a running one ends with the model that it began with."""

from dataclasses import replace

from coder_tui.agent.profiles.profiles import Profile
from coder_tui.agent.title import SessionState
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.agent.turn.turn import TurnServices
from coder_tui.llm.providers import is_same_provider
from coder_tui.protocol.events import ModelChanged
from coder_tui.storage.store import Store
from coder_tui.tasks import Background


class ModelSwitch:
    """`settle` is called where no turn runs, or one is about to."""

    def __init__(
        self,
        session_id: str,
        store: Store,
        state: SessionState,
        services: TurnServices,
        background: Background,
    ) -> None:
        self._session_id = session_id
        self._store = store
        self._state = state
        self._services = services
        self._background = background
        self._waiting: tuple[ModelChoice, int | None] | None = None
        self._own: tuple[ModelChoice, int | None] | None = None

    def ask_for(self, choice: ModelChoice, context_window: int | None) -> None:
        """The last wish before the next turn counts."""
        self._waiting = (choice, context_window)
        self._own = None

    def use_now(self, choice: ModelChoice) -> None:
        """In the middle of a turn, because the person said so."""
        self.ask_for(choice, None)
        self.settle()

    def follow(self, profile: Profile, *, is_busy: bool) -> None:
        """A profile with a model of its own brings it along; after it the session's own answers again."""
        request = self._services.request
        if profile.model:
            own = self._own or self._waiting or (request.choice, self._services.meter.context_window)
            # Another provider's key must not go to this server.
            is_same = is_same_provider(profile.model, own[0].name)
            self._waiting = (replace(own[0], name=profile.model, api_base=own[0].api_base * is_same), None)
            self._own = own
        elif self._own is not None:
            self._waiting, self._own = self._own, None
        if not is_busy:
            self.settle()

    def settle(self) -> None:
        if self._waiting is None:
            return
        (choice, window), self._waiting = self._waiting, None
        self._services.request.use(choice)
        self._services.meter.context_window = window
        self._state.model = choice.name
        self._services.bus.publish(ModelChanged(choice.name, window))
        self._background.start(self._store.set_model(self._session_id, choice.name))
