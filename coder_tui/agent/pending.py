"""What waits for the model: messages typed while the agent works, and attachments for the next message."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from coder_tui.agent.event_bus import EventBus
from coder_tui.protocol.events import QueueChanged
from coder_tui.protocol.messages import Attachment

Attach = Callable[[str], Awaitable[tuple[Attachment, ...]]]
"""Finds what a message names for the model."""


class MessageQueue:
    """Messages typed while the agent works; each goes out at its next step."""

    def __init__(self, bus: EventBus) -> None:
        self._bus = bus
        self._texts: list[str] = []

    def put(self, text: str) -> None:
        self._texts.append(text)
        self._bus.publish(QueueChanged(tuple(self._texts)))

    def take_first(self) -> str | None:
        """Remove and return the oldest message; None if there is none."""
        if not self._texts:
            return None
        text = self._texts.pop(0)
        self._bus.publish(QueueChanged(tuple(self._texts)))
        return text

    def take_all(self) -> tuple[str, ...]:
        """Remove and return all messages."""
        texts = tuple(self._texts)
        if texts:
            self._texts.clear()
            self._bus.publish(QueueChanged(()))
        return texts


class HeldAttachments:
    """Attachments for the user's next message, kept until a message that has them is stored."""

    def __init__(self) -> None:
        self._held: tuple[Attachment, ...] = ()

    @property
    def all(self) -> tuple[Attachment, ...]:
        return self._held

    def hold(self, attachment: Attachment) -> None:
        self._held = (*self._held, attachment)

    def forget(self, sent: tuple[Attachment, ...]) -> None:
        self._held = tuple(each for each in self._held if each not in sent)


@dataclass(frozen=True, slots=True)
class Inbox:
    """What one agent is sent by its user; each of `attachers` adds to a message, in this order."""

    queue: MessageQueue
    attachers: tuple[Attach, ...] = ()
    held: HeldAttachments = field(default_factory=HeldAttachments)

    async def attachments(self, text: str) -> tuple[Attachment, ...]:
        found = [each for attach in self.attachers for each in await attach(text)]
        return (*found, *self.held.all)
