"""A dialog that judges keys before anything else sees them."""

from abc import abstractmethod

from textual import events
from textual.screen import ModalScreen, ScreenResultType


class GatedScreen(ModalScreen[ScreenResultType]):
    """While it is on top, the app offers it every key and paste first, in its own queue."""

    @abstractmethod
    def take(self, event: events.Key | events.Paste) -> bool:
        """Whether the event has been dealt with."""
