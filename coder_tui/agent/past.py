"""What was said in a session before, as events that build its screen; read again when the store changed."""

from typing import TYPE_CHECKING

from coder_tui.agent.context_sizes import filled_by
from coder_tui.agent.replay import replay
from coder_tui.agent.rows_beside import RowsBeside
from coder_tui.protocol.events import Event

if TYPE_CHECKING:  # the session holds this
    from coder_tui.agent.session import SessionParts


class Past:
    def __init__(self, parts: "SessionParts") -> None:
        self._parts = parts
        self.events: tuple[Event, ...] = parts.earlier
        self._beside = RowsBeside(parts.earlier)
        parts.bus.subscribe(self._beside.hear)

    async def reload(self) -> None:
        """Turns were taken back, or made again: model and screen go by what counts now."""
        stored = await self._parts.store.load(self._parts.info.id)
        self._parts.services.conversation.replace(stored.messages, stored.compactions)
        self._parts.take_todos(stored.todos)
        services, meter = self._parts.services, self._parts.services.meter
        meter.context_tokens = filled_by(services.conversation, services.request)
        self._parts.bus.publish(meter.snapshot())
        self.events = tuple(self._beside.among(replay(stored)))
