"""Counts tokens and money per call, turn and session."""

from coder_tui.agent.event_bus import EventBus
from coder_tui.protocol.events import UsageUpdated
from coder_tui.protocol.messages import AssistantMessage
from coder_tui.protocol.usage import Usage
from coder_tui.storage.sessions import Store


class UsageMeter:
    def __init__(
        self, store: Store, bus: EventBus, session_id: str, session: Usage, context_tokens: int = 0
    ) -> None:
        self._store = store
        self._bus = bus
        self._session_id = session_id
        self.session = session
        self.turn = Usage()
        self.context_tokens = context_tokens
        self.context_window: int | None = None

    def start_turn(self) -> None:
        self.turn = Usage()

    async def add(self, message: AssistantMessage) -> None:
        usage = message.usage
        await self._store.add_usage(self._session_id, message.id, message.model, usage)
        self.turn += usage
        self.session += usage
        self.context_tokens = usage.total_tokens or self.context_tokens
        self._bus.publish(self.snapshot())

    def snapshot(self) -> UsageUpdated:
        return UsageUpdated(self.turn, self.session, self.context_tokens, self.context_window)
