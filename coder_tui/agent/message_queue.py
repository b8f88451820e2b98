"""Messages typed while the agent works; they go out at its next step."""

from coder_tui.agent.event_bus import EventBus
from coder_tui.protocol.events import QueueChanged


class MessageQueue:
    def __init__(self, bus: EventBus) -> None:
        self._bus = bus
        self._texts: list[str] = []

    def put(self, text: str) -> None:
        self._texts.append(text)
        self._bus.publish(QueueChanged(tuple(self._texts)))

    def take_first(self) -> str | None:
        """The one that waits longest; None when none does."""
        if not self._texts:
            return None
        text = self._texts.pop(0)
        self._bus.publish(QueueChanged(tuple(self._texts)))
        return text

    def take(self) -> tuple[str, ...]:
        """All that waits; nothing waits afterwards."""
        texts = tuple(self._texts)
        if texts:
            self._texts.clear()
            self._bus.publish(QueueChanged(()))
        return texts
