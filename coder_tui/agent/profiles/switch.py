"""Which profile leads a session: plan mode and the plan profile go together, and a plan ends both."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from coder_tui.agent.calls.permissions import PermissionDesk
from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.profiles.profiles import BUILD, PLAN, Profile, Profiles
from coder_tui.protocol.access import Mode
from coder_tui.protocol.events import ModeChanged, ProfileChanged

Listener = Callable[[Profile], None]


class ProfileKeeper(Protocol):
    """Keeps what a session must know when it is resumed."""

    async def set_mode(self, session_id: str, mode: Mode) -> None: ...
    async def set_profile(self, session_id: str, profile: str) -> None: ...
    async def set_plan(self, session_id: str, plan: str) -> None: ...


class NotKept:
    """For calls outside of a session."""

    async def set_mode(self, session_id: str, mode: Mode) -> None:
        return None

    async def set_profile(self, session_id: str, profile: str) -> None:
        return None

    async def set_plan(self, session_id: str, plan: str) -> None:
        return None


class ProfileSwitch:
    """`start` runs a write beside the session; `plan` is the approved one that the model is reminded of."""

    def __init__(
        self,
        session_id: str,
        profiles: Profiles,
        desk: PermissionDesk,
        bus: EventBus,
        keeper: ProfileKeeper,
        start: Callable[[Coroutine[Any, Any, None]], None],
        plan: str = "",
    ) -> None:
        self._session_id = session_id
        self.known = profiles
        self._desk = desk
        self._bus = bus
        self._keeper = keeper
        self._start = start
        self._listener: Listener | None = None
        self.plan = plan
        self._before_plan = BUILD
        self._current = profiles.get(PLAN if desk.mode is Mode.PLAN else BUILD)
        desk.set_profile(self._current)

    @property
    def current(self) -> Profile:
        return self._current

    def listen(self, listener: Listener) -> None:
        """Hear of the profile that leads from now on."""
        self._listener = listener

    def use(self, name: str) -> Profile:
        """Let this one lead; `UsageError` where there is none of the name that can."""
        profile = self.known.leader(name)
        if profile.name == PLAN:
            self.set_mode(Mode.PLAN)
        else:
            if self._desk.mode is Mode.PLAN:
                self._change_mode(Mode.ASK)
            self._lead(profile)
        return profile

    def set_mode(self, mode: Mode) -> None:
        """Into plan mode with the plan profile, and out of it with the one that led before."""
        if mode is not self._desk.mode:
            self._change_mode(mode)
        if mode is Mode.PLAN:
            self._lead(self.known.get(PLAN))
        elif self._current.name == PLAN:
            self._lead(self.known.find(self._before_plan) or self.known.get(BUILD))

    async def approve(self, plan: str) -> str:
        """Keep the plan before the model, and go on; returns the name of the profile that does."""
        await self._keeper.set_plan(self._session_id, plan)
        self.plan = plan
        if self._desk.mode is Mode.PLAN:
            # Not the mode before plan mode: by Shift+Tab that is always `edits`, and nobody chose it.
            self.set_mode(Mode.ASK)
        return self._current.name

    def _change_mode(self, mode: Mode) -> None:
        self._desk.set_mode(mode)
        self._bus.publish(ModeChanged(mode))
        self._start(self._keeper.set_mode(self._session_id, mode))

    def _lead(self, profile: Profile) -> None:
        if profile.name == self._current.name:
            return
        if profile.name == PLAN:
            self._before_plan = self._current.name
        self._current = profile
        self._desk.set_profile(profile)
        self._bus.publish(ProfileChanged(profile.name))
        self._start(self._keeper.set_profile(self._session_id, profile.name))
        if self._listener is not None:
            self._listener(profile)
