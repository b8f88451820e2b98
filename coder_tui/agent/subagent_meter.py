"""Counts what a sub-agent uses: for its own row, and for the session that pays for it."""

from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.to_the_end import to_the_end
from coder_tui.agent.usage_meter import UsageMeter
from coder_tui.protocol.messages import AssistantMessage
from coder_tui.protocol.usage import Usage
from coder_tui.storage.sessions import Store


class SubagentMeter(UsageMeter):
    """Limits are shared: what counts against them is what the whole turn has used."""

    def __init__(self, store: Store, bus: EventBus, child_id: str, parent: UsageMeter) -> None:
        super().__init__(store, bus, child_id, Usage(), prices=parent.prices)
        # The very same: what one of the family paid is what the next will.
        self.last_costs = parent.last_costs
        self._parent = parent
        self.own_steps = 0

    @property
    def spent(self) -> Usage:
        return self._parent.spent

    @property
    def steps(self) -> int:
        return self._parent.steps

    async def add(self, message: AssistantMessage) -> None:
        # To the end: who stops a sub-agent has still paid for its reply.
        await to_the_end(self._add(message))

    async def _add(self, message: AssistantMessage) -> None:
        self.own_steps += 1
        await super().add(message)
        await self._parent.add_of_child(message, self._session_id)

    async def add_apart(self, message: AssistantMessage) -> None:
        await to_the_end(self._add_apart(message))

    async def _add_apart(self, message: AssistantMessage) -> None:
        await super().add_apart(message)
        await self._parent.add_of_child(message, self._session_id)
