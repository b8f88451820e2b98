"""The pieces of a session screen that come behind the first paint, and their places on it."""

from collections.abc import Callable, Coroutine
from pathlib import Path

from textual.screen import Screen

from coder_tui.ui.chrome.banners import NewBelowPill, QueueLine, RequestCard, TooSmall
from coder_tui.ui.chrome.hints import Hints, Welcome
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.launch import Launch
from coder_tui.ui.notifications import Attention
from coder_tui.ui.panes.dock import Dock
from coder_tui.ui.panes.pane import PaneTabs
from coder_tui.ui.prompt.completion_list import CompletionList
from coder_tui.ui.prompt.prompt import Prompt
from coder_tui.ui.requests.presenter import RequestPresenter
from coder_tui.ui.session.composing import Composing
from coder_tui.ui.session.drafts import UnsentWords
from coder_tui.ui.session.reading import BlockReader
from coder_tui.ui.session.sender import Conversation
from coder_tui.ui.session.shell_line import ShellLine
from coder_tui.ui.session.slash import SlashCommands
from coder_tui.ui.transcript.transcript import Transcript


class Furniture:
    """Everything around prompt and status; `start` runs a turn, `directory` tells the session's folder."""

    def __init__(
        self,
        screen: Screen[None],
        prompt: Prompt,
        launch: Launch,
        chrome: Chrome,
        clock: Callable[[], float],
        start: Callable[[Coroutine[None, None, None]], object],
        directory: Callable[[], Path],
    ) -> None:
        self._screen = screen
        self.transcript = Transcript(
            use_ascii=launch.use_ascii, thinking=launch.thinking, has_motion=launch.has_motion
        )
        self.welcome = Welcome(launch.keys.rows)
        self.dock = Dock(chrome)
        self.tabs = PaneTabs(chrome)
        self.hints = Hints()
        self.pill = NewBelowPill(chrome)
        self.queue = QueueLine(chrome)
        self.card = RequestCard(chrome)
        self.too_small = TooSmall()
        self.conversation = Conversation(prompt, self.queue, start)
        self.presenter = RequestPresenter(
            screen, prompt, self.card, self.too_small, chrome, self.conversation, clock, launch
        )
        say = self.hints.show
        self.reader = BlockReader(screen, launch, chrome, lambda: self.conversation.session, say)
        self.transcript.reader = self.reader
        slash = SlashCommands(screen, self.transcript, self.conversation, self.reader, prompt.put_back)
        shell = ShellLine(screen, self.transcript, self.conversation, prompt.put_back, say)
        popup = CompletionList(chrome)
        self.composing = Composing(screen, prompt, popup, slash, shell, launch, directory, say)
        self.unsent = UnsentWords(screen, prompt, self.conversation, self.transcript, launch)
        self.attention = Attention(screen, chrome, clock, lambda: self.presenter.is_asking)

    async def mount(self) -> None:
        screen = self._screen
        with screen.app.batch_update():
            chat = screen.query_one("#chat")
            await chat.mount(self.welcome, self.transcript, self.transcript.line, self.pill)
            await screen.query_one("#body").mount(self.dock, self.hints)
            await screen.mount(self.tabs, before="#body")
            await screen.mount(self.queue, self.card, self.composing.anchor, before="#composer")
            await screen.mount(self.too_small)
