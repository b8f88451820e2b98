"""The widgets of the session screen, built after the first paint, and the table of what its keys do."""

from collections.abc import Callable, Coroutine
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING

from coder_tui.ui.chrome.banners import Hints, NewBelowPill, QueueLine, RequestCard, TooSmall, Welcome
from coder_tui.ui.clipboard import Clipboard, paste
from coder_tui.ui.keymap import named
from coder_tui.ui.keys import Context
from coder_tui.ui.notifications import Attention
from coder_tui.ui.panes.dock import Dock
from coder_tui.ui.panes.names import PaneName
from coder_tui.ui.panes.pane import PaneTabs
from coder_tui.ui.requests.presenter import RequestPresenter
from coder_tui.ui.session.composing import Composing, ForkEditor
from coder_tui.ui.session.list_actions import LISTS, SessionLists
from coder_tui.ui.session.reading import BlockReader
from coder_tui.ui.session.sender import DraftSaver, MessageSender
from coder_tui.ui.textual_internals import turn_mouse
from coder_tui.ui.transcript.transcript import Transcript

if TYPE_CHECKING:
    from coder_tui.ui.session.screen import SessionScreen


QUIT_WINDOW = 2.0
MOUSE_AWAY = "The terminal has the mouse now, to select and copy. /mouse gives it back to the program."
MOUSE_HERE = "The program has the mouse again."


class SessionActions:
    """One table of actions; `ui.keys` names them in its rows."""

    def __init__(self, screen: "SessionScreen", widgets: "SessionWidgets") -> None:
        self._screen = screen
        self._widgets = widgets
        self._quit_until = float("-inf")
        body, transcript = screen.body, widgets.transcript
        self.table: dict[str, Callable[[], object]] = {
            "escape": self.escape,
            "cancel": self.cancel,
            "answer": widgets.presenter.open_now,
            "chat": body.show_newest,
            "changes": body.open_changes,
            "review": body.open_review,
            "todos": partial(body.open_pane, PaneName.TODOS),
            "problems": partial(body.open_pane, PaneName.PROBLEMS),
            "next_problem": partial(body.open_problem, 1),
            "previous_problem": partial(body.open_problem, -1),
            "mode": widgets.sender.next_mode,
            "fold": transcript.toggle_fold,
            "thinking": transcript.cycle_thinking,
            "page_up": partial(transcript.view.scroll_page_up, animate=False),
            "page_down": partial(transcript.view.scroll_page_down, animate=False),
            "browse": transcript.view.focus,
            "find": self.search,
            "subagents": widgets.reader.list_subagents,
            "log": self.read_log,
            "mouse": self.toggle_mouse,
            "search_history": widgets.composing.completer.search_history,
            "edit_draft": widgets.composing.edit,
            "paste": self.paste,
            "send_again": widgets.fork_editor.start,
            **{name: partial(widgets.lists.open, name) for name in LISTS},
        }

    async def run(self, name: str) -> None:
        result = self.table[name]()
        if isawaitable(result):
            await result

    def escape(self) -> None:
        """Close or stop one thing; if there is nothing, go to the prompt."""
        self._screen.clear_selection()
        if self._widgets.presenter.has_just_closed or self._widgets.fork_editor.cancel():
            return
        if not self._stop():
            self._screen.set_focus(self._screen.prompt)

    async def cancel(self) -> None:
        """Copy, else stash the draft, else stop the agent, else quit at the second press."""
        prompt, hints = self._screen.prompt, self._widgets.hints
        selected = prompt.selected_text or self._screen.get_selected_text()
        if selected:
            self._widgets.reader.copy(selected)
        elif not prompt.is_empty:
            prompt.stash()
            hints.show("Draft saved. Press Up to get it back.")
        elif self._stop():
            pass
        elif self._screen.clock() < self._quit_until:
            await self._screen.app.action_quit()
        else:
            self._quit_until = self._screen.clock() + QUIT_WINDOW
            hints.show(named(self._screen, "Press Ctrl+C again to quit.", Context.SESSION), QUIT_WINDOW)

    def _stop(self) -> bool:
        """End the user's own command, else the turn; return False if neither runs."""
        composing = self._widgets.composing
        return composing.shell.stop() or composing.commands.stop() or self._widgets.sender.interrupt()

    def search(self, words: str = "") -> None:
        view = self._widgets.transcript.view
        view.focus()
        view.search.start()
        if words:
            view.type_text(words)

    def read_log(self) -> None:
        """Show again what was shown for a moment."""
        said = self._widgets.hints.said or "There are no messages yet."
        self._widgets.reader.read_text("Messages of this session", said)

    def toggle_mouse(self) -> None:
        """Terminals select and copy by mouse only what a program leaves to them."""
        is_ours = turn_mouse(self._screen.app)
        self._widgets.hints.show(MOUSE_HERE if is_ours else MOUSE_AWAY)

    async def paste(self) -> None:
        """Paste before the next key is handled: what is typed after a paste goes behind it."""
        screen, session = self._screen, self._widgets.sender.session
        clipboard, model = Clipboard(screen.launch.directory), session.model if session else ""
        await paste(screen.prompt, clipboard, screen.launch.pictures, model, self._widgets.hints.show)
        screen.set_focus(screen.prompt)


class SessionWidgets:
    """Everything besides the prompt and the status bar."""

    def __init__(self, screen: "SessionScreen") -> None:
        self._screen = screen
        prompt, launch, chrome = screen.prompt, screen.launch, screen.chrome
        self.hints = Hints()
        self.reader = BlockReader(screen, self)
        self.transcript = Transcript(
            use_ascii=launch.use_ascii,
            thinking=launch.thinking,
            has_motion=launch.has_motion,
            reader=self.reader,
        )
        self.welcome = Welcome(launch.keys.rows)
        self.dock = Dock(chrome)
        self.tabs = PaneTabs(chrome)
        self.pill = NewBelowPill(chrome)
        self.queue = QueueLine(chrome)
        self.card = RequestCard(chrome)
        self.too_small = TooSmall()
        self.sender = MessageSender(prompt, self.queue, self._start_turn)
        answer, send = self.sender.answer, self.sender.send
        self.presenter = RequestPresenter(
            screen, prompt, self.card, self.too_small, chrome, answer, send, screen.clock, launch
        )
        self.composing = Composing(screen, self)
        self.drafts = DraftSaver(screen, self.sender, self.transcript)
        self.attention = Attention(screen, chrome, screen.clock, lambda: self.presenter.is_asking)
        self.lists = SessionLists(screen, self)
        self.fork_editor = ForkEditor(screen, self)
        self.actions = SessionActions(screen, self)

    def _start_turn(self, turn: Coroutine[None, None, None]) -> None:
        self.welcome.hide()
        self._screen.run_worker(turn, group="turn")

    async def mount(self) -> None:
        screen = self._screen
        with screen.app.batch_update():
            chat = screen.query_one("#chat")
            await chat.mount(self.welcome, self.transcript.view, self.transcript.view.line, self.pill)
            await screen.query_one("#body").mount(self.dock, self.hints)
            await screen.mount(self.tabs, before="#body")
            await screen.mount(self.queue, self.card, self.composing.anchor, before="#composer")
            await screen.mount(self.too_small)
