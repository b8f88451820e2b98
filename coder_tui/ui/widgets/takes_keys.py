"""What a widget says that wants letters for itself while it has the focus."""

from abc import abstractmethod

from textual import events


class TakesKeys:
    """Keys come one at a time, each dealt with to its end."""

    @abstractmethod
    def take(self, event: events.Key) -> bool:
        """Whether the key was meant for it."""

    @abstractmethod
    def type_text(self, text: str) -> bool:
        """Whether pasted text was meant for it."""
