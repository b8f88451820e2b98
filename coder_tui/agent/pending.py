"""Messages typed while the agent works; they go out at its next step.

What goes to the model with the person's next message, whatever that will be.
"""

from coder_tui.agent.event_bus import EventBus
from coder_tui.protocol.events import QueueChanged
from coder_tui.protocol.messages import Attachment


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


class HeldAttachments:
    """Kept until a message that has them is stored."""

    def __init__(self) -> None:
        self._held: tuple[Attachment, ...] = ()

    @property
    def all(self) -> tuple[Attachment, ...]:
        return self._held

    def hold(self, attachment: Attachment) -> None:
        self._held = (*self._held, attachment)

    def forget(self, sent: tuple[Attachment, ...]) -> None:
        self._held = tuple(each for each in self._held if each not in sent)
