"""What a session screen has besides the prompt and the status; made behind the first paint.

A screen that deals with keys itself, one after the other.
"""

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

from textual import events

from coder_tui.ui.chrome.status_bar import StatusBar
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context
from coder_tui.ui.launch import Launch
from coder_tui.ui.prompt.prompt import Prompt

if TYPE_CHECKING:  # half of the way to the first paint was importing these, and it shows none of them
    from textual.screen import Screen

    from coder_tui.ui.chrome.hints import Hints
    from coder_tui.ui.notifications import Attention
    from coder_tui.ui.panes.dock import Dock
    from coder_tui.ui.panes.pane import PaneTabs
    from coder_tui.ui.requests.presenter import RequestPresenter
    from coder_tui.ui.session.composing import Composing
    from coder_tui.ui.session.parts import Furniture
    from coder_tui.ui.session.reading import BlockReader
    from coder_tui.ui.session.sender import Conversation
    from coder_tui.ui.transcript.transcript import Transcript

    _Screen = Screen[None]
else:
    _Screen = object


class Furnished(_Screen):
    """Part of a screen: names for the pieces of its furniture, which the first use makes."""

    chrome: Chrome
    launch: Launch
    prompt: Prompt
    status: StatusBar
    is_furnished: bool
    """Whether the furniture stands in its place; before that, asking for a piece of it costs a start."""

    @abstractmethod
    def make_furniture(self) -> "Furniture":
        """Everything at once; the screen knows what it needs for it."""

    @cached_property
    def furniture(self) -> "Furniture":
        return self.make_furniture()

    @property
    def transcript(self) -> "Transcript":
        return self.furniture.transcript

    @property
    def dock(self) -> "Dock":
        return self.furniture.dock

    @property
    def tabs(self) -> "PaneTabs":
        return self.furniture.tabs

    @property
    def hints(self) -> "Hints":
        return self.furniture.hints

    @property
    def conversation(self) -> "Conversation":
        return self.furniture.conversation

    @property
    def presenter(self) -> "RequestPresenter":
        return self.furniture.presenter

    @property
    def reader(self) -> "BlockReader":
        return self.furniture.reader

    @property
    def composing(self) -> "Composing":
        return self.furniture.composing

    @property
    def attention(self) -> "Attention":
        return self.furniture.attention


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
