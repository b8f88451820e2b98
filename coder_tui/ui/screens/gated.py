"""A screen that deals with keys itself, one after the other."""

from abc import abstractmethod

from textual import events

from coder_tui.ui.keys import Context


class Gated:
    """While it is on top, the app offers it every key and paste first, in its own queue.

    Through the queues of widgets a key would overtake another, or reach a dialog that an earlier one closed.
    """

    help_context: Context

    @abstractmethod
    async def take(self, event: events.Key | events.Paste) -> bool:
        """Whether the event has been dealt with."""

    def rearm(self) -> None:
        """The terminal got the focus back: the next key may be meant elsewhere."""
