"""Counts tokens and money per call, turn and session."""

from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.to_the_end import to_the_end
from coder_tui.protocol.events import UsageUpdated
from coder_tui.protocol.messages import AssistantMessage, Message
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
        self.turn_number = 0
        self._steps = 0
        self.context_tokens = context_tokens
        self.context_window: int | None = None
        self.last_cost = 0.0
        """Dollars of the newest call, as far as they are known."""

    @property
    def spent(self) -> Usage:
        """What counts against the limit of money."""
        return self.session

    @property
    def steps(self) -> int:
        """Model calls of the turn, those of its sub-agents among them."""
        return self._steps

    def start_turn(self, number: int) -> None:
        self.turn = Usage()
        self.turn_number = number
        self._steps = 0

    async def add(self, message: AssistantMessage) -> None:
        self.context_tokens = message.usage.total_tokens or self.context_tokens
        self.last_cost = message.usage.cost or 0.0
        # To the end: who stops a turn has still paid for its reply.
        await to_the_end(self._count(message))

    async def add_of_child(self, message: AssistantMessage, child_id: str = "") -> None:
        """A sub-agent's reply costs as any other, but fills a window of its own."""
        await to_the_end(self._count(message, child_id))

    async def add_summary(self, message: AssistantMessage) -> None:
        """It is no part of the conversation, and fills another window."""
        await self.add_of_child(message)

    async def add_beside(self, message: AssistantMessage) -> None:
        """What was asked for the program's own sake costs, too, but is no step of the turn."""
        await to_the_end(self._count(message, is_step=False))

    async def _count(self, message: AssistantMessage, child_id: str = "", *, is_step: bool = True) -> None:
        usage, turn = message.usage, self.turn_number
        await self._store.add_usage(self._session_id, message.id, message.model, usage, turn, child_id)
        self._steps += is_step
        self.turn += usage
        self.session += usage
        self._bus.publish(self.snapshot())

    def snapshot(self) -> UsageUpdated:
        return UsageUpdated(self.turn, self.session, self.context_tokens, self.context_window)


def last_context(messages: tuple[Message, ...]) -> int:
    """How much of the window the newest reply filled."""
    replies = (message for message in reversed(messages) if isinstance(message, AssistantMessage))
    return next((reply.usage.total_tokens for reply in replies), 0)
