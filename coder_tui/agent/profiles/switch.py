"""Choose the profile that leads a session; plan mode comes and goes with its own profile."""

from collections.abc import Callable, Coroutine
from typing import Any

from coder_tui.agent.calls.permissions import Permissions
from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.profiles.profiles import BUILD, PLAN, Profile, Profiles
from coder_tui.protocol.access import Mode
from coder_tui.protocol.events import ModeChanged, ProfileChanged
from coder_tui.storage.session_state import ActiveProfileTable


class ProfileSwitch:
    """`start` runs a write in the background; `plan` is the approved plan that the model is reminded of.

    Without a `store`, as for calls outside a session, nothing is remembered for a later one.
    """

    def __init__(
        self,
        session_id: str,
        profiles: Profiles,
        permissions: Permissions,
        bus: EventBus,
        store: ActiveProfileTable | None,
        start: Callable[[Coroutine[Any, Any, None]], object],
        plan: str = "",
        on_change: Callable[[Profile], None] | None = None,
    ) -> None:
        """`on_change` is called with each profile that leads from then on."""
        self._session_id = session_id
        self.known = profiles
        self._permissions = permissions
        self._bus = bus
        self._store = store
        self._start = start
        self._on_change = on_change
        self.plan = plan
        self._before_plan = BUILD
        self._current = profiles.get(PLAN if permissions.mode is Mode.PLAN else BUILD)
        permissions.set_profile(self._current)

    @property
    def current(self) -> Profile:
        return self._current

    def use(self, name: str) -> Profile:
        """Let this profile lead; raise `UsageError` if none of this name can."""
        profile = self.known.leader(name)
        if profile.name == PLAN:
            self.set_mode(Mode.PLAN)
        else:
            if self._permissions.mode is Mode.PLAN:
                self._change_mode(Mode.ASK)
            self._lead(profile)
        return profile

    def set_mode(self, mode: Mode) -> None:
        """Enter plan mode with the plan profile, and leave it with the profile that led before."""
        if mode is not self._permissions.mode:
            self._change_mode(mode)
        if mode is Mode.PLAN:
            self._lead(self.known.get(PLAN))
        elif self._current.name == PLAN:
            self._lead(self.known.find(self._before_plan) or self.known.get(BUILD))

    async def approve(self, plan: str) -> str:
        """Store the plan, which the model is sent from now on, and return the profile that carries it out."""
        if self._store is not None:
            await self._store.set_plan(self._session_id, plan)
        self.plan = plan
        if self._permissions.mode is Mode.PLAN:
            # Not the mode before plan mode: by Shift+Tab that is always `edits`, and nobody chose it.
            self.set_mode(Mode.ASK)
        return self._current.name

    def _change_mode(self, mode: Mode) -> None:
        self._permissions.set_mode(mode)
        self._bus.publish(ModeChanged(mode))
        if self._store is not None:
            self._start(self._store.set_mode(self._session_id, mode))

    def _lead(self, profile: Profile) -> None:
        if profile.name == self._current.name:
            return
        if profile.name == PLAN:
            self._before_plan = self._current.name
        self._current = profile
        self._permissions.set_profile(profile)
        self._bus.publish(ProfileChanged(profile.name))
        if self._store is not None:
            self._start(self._store.set_profile(self._session_id, profile.name))
        if self._on_change is not None:
            self._on_change(profile)
