"""The session: transcript, prompt and what surrounds them."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen
from textual.widgets import Static, TextArea

from coder_tui.ui.composing import Composing
from coder_tui.ui.conversation import Conversation
from coder_tui.ui.git_branch import read_branch
from coder_tui.ui.glyphs import chrome
from coder_tui.ui.key_order import deliver
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.launch import Launch
from coder_tui.ui.notifications import Attention
from coder_tui.ui.reading import BlockReader
from coder_tui.ui.request_presenter import RequestPresenter
from coder_tui.ui.screens.gated import Gated
from coder_tui.ui.screens.pane_actions import PaneActions
from coder_tui.ui.screens.picker_actions import PickerActions
from coder_tui.ui.screens.prompt_actions import PromptActions
from coder_tui.ui.screens.reading_actions import ReadingActions
from coder_tui.ui.screens.report_actions import ReportActions
from coder_tui.ui.shell_line import ShellLine
from coder_tui.ui.slash import SlashCommands
from coder_tui.ui.widgets.completion import CompletionList
from coder_tui.ui.widgets.dock import MEDIUM, WIDE, Dock
from coder_tui.ui.widgets.hints import Hints
from coder_tui.ui.widgets.lines import NewBelowPill, QueueLine, RequestCard, TooSmall
from coder_tui.ui.widgets.pane_tabs import PaneTabs
from coder_tui.ui.widgets.prompt import Prompt
from coder_tui.ui.widgets.prompt_history import PromptHistory, keep_in_memory
from coder_tui.ui.widgets.status_bar import StatusBar
from coder_tui.ui.widgets.transcript import Transcript

if TYPE_CHECKING:  # the first paint needs neither the agent nor pydantic
    from coder_tui.agent.session import Session
    from coder_tui.ui.event_router import EventRouter

QUIT_WINDOW = 2.0
_WIDTHS = [(0, "-narrow"), (MEDIUM, "-medium"), (WIDE, "-wide")]
_HEIGHTS = [(0, "-short"), (30, "-tall")]


class SessionScreen(
    Gated, ReadingActions, PaneActions, PickerActions, PromptActions, ReportActions, Screen[None]
):
    """Lays the widgets out and turns keys into calls on them."""

    BINDINGS = bindings(Context.SESSION)
    HORIZONTAL_BREAKPOINTS = _WIDTHS
    VERTICAL_BREAKPOINTS = _HEIGHTS
    AUTO_FOCUS = "#prompt"
    help_context = Context.SESSION

    def __init__(self, launch: Launch, clock: Callable[[], float]) -> None:
        super().__init__()
        signs = chrome(use_ascii=launch.use_ascii)
        self._directory = launch.directory
        self.chrome = signs
        self.launch = launch
        self.shelf = launch.shelf
        self._clock = clock
        self._quit_until = float("-inf")
        self.transcript = Transcript(
            use_ascii=launch.use_ascii, thinking=launch.thinking, has_motion=launch.has_motion
        )
        self.prompt = Prompt(PromptHistory((), keep_in_memory), self._submitted, holds_chips=True)
        self.status = StatusBar(signs, launch.directory)
        self.dock = Dock(signs)
        self.tabs = PaneTabs(signs)
        self._queue = QueueLine(signs)
        self._card = RequestCard(signs)
        self._too_small = TooSmall()
        self._pill = NewBelowPill(signs)
        self.hints = self._hints = Hints()
        self.conversation = Conversation(self.prompt, self._queue, self._start_turn)
        self.presenter = RequestPresenter(
            self,
            self.prompt,
            self._card,
            self._too_small,
            signs,
            self.conversation,
            clock,
            launch,
        )
        self.reader = BlockReader(self, launch, signs, lambda: self.conversation.session, self._hints.show)
        self.transcript.reader = self.reader
        put_back, say = self.prompt.put_back, self._hints.show
        self.composing = Composing(
            self,
            self.prompt,
            CompletionList(signs),
            SlashCommands(self, self.transcript, self.conversation, self.reader, put_back),
            ShellLine(self, self.transcript, self.conversation, put_back, say),
            launch,
            lambda: self._directory,
            say,
        )
        self.attention = Attention(self, signs, clock, lambda: self.presenter.is_asking)
        self.router: EventRouter | None = None

    def compose(self) -> ComposeResult:
        yield self.tabs
        with Container(id="body"):
            with Container(id="chat"):
                yield self.transcript
                yield self.transcript.line
                yield self._pill
            yield self.dock
            yield self._hints
        yield self._queue
        yield self._card
        yield self.composing.anchor
        with Container(id="composer"):
            yield Static(self.chrome.prompt, id="sign", markup=False)
            yield self.prompt
        yield self.status
        yield self._too_small

    def attach(self, session: "Session") -> None:
        """Show the session as it stands, and follow it from here."""
        earlier = session.history()
        self._directory = session.directory
        self.router = router = self._build_router()
        self.attention.begin(self._directory.name)
        with self.transcript.adding_many():
            for event in earlier:
                router.route(event)
        session.subscribe(router.route)
        session.subscribe(self.attention.hear)
        self.prompt.sent.seed(router.sent)
        self.conversation.attach(session)
        self.run_worker(self.composing.recall(session), group="recall")
        self.follow_changes(session)
        self._turn_ended()

    def _build_router(self) -> "EventRouter":
        # The types of all events take 12 ms to define: not before the first paint.
        from coder_tui.ui.event_router import EventRouter, Panes

        panes = Panes(
            self.transcript,
            self.status,
            self.dock,
            self._queue,
            self.conversation,
            self.presenter,
            self._turn_ended,
            self.files_changed,
            self.titled,
        )
        return EventRouter(panes)

    def offers(self, action: str) -> bool:
        """Whether an action would do something now."""
        return action != "screen.answer" or self.presenter.has_requests

    async def take(self, event: events.Key | events.Paste) -> bool:
        self.presenter.pressed(event.time)
        if not await self.composing.take(event):
            await deliver(self, self.prompt, event)
        self.composing.completer.look()
        # A turn that was just sent begins before the next key, which may be the one that stops it.
        await asyncio.sleep(0)
        return True

    def _submitted(self, text: str) -> None:
        self.presenter.forget_cancelled()
        if self.composing.takes(text):
            return
        self.dock.show_chat()
        self.transcript.follow()
        self.conversation.send(text)

    @on(Prompt.Ended)
    async def _prompt_ended(self) -> None:
        await self.app.action_quit()

    @on(TextArea.Changed)
    @on(events.ScreenResume)
    def _may_present(self) -> None:
        self.composing.completer.look()
        self.presenter.consider()

    @on(Transcript.NewBelow)
    def _new_below(self, event: Transcript.NewBelow) -> None:
        self._pill.show(event.count)

    def on_resize(self, event: events.Resize) -> None:
        self.dock.set_room(event.size)
        self.set_class(TooSmall.is_too_small(event.size), "-tiny")
        self.presenter.consider()

    def action_escape(self) -> None:
        self.clear_selection()
        if not self.presenter.has_just_closed and not self._stop():
            self.set_focus(self.prompt)

    def _stop(self) -> bool:
        """End the person's own command, else the turn; False when neither runs."""
        return self.composing.shell.stop() or self.conversation.interrupt()

    async def action_cancel(self) -> None:
        """Copy, else stash the draft, else stop the agent, else quit at the second press."""
        selected = self.prompt.selected_text or self.get_selected_text()
        if selected:
            self.reader.copy(selected)
        elif not self.prompt.is_empty:
            self.prompt.stash()
            self._hints.show("Draft put away: Up brings it back.")
        elif self._stop():
            pass
        elif self._clock() < self._quit_until:
            await self.app.action_quit()
        else:
            self._quit_until = self._clock() + QUIT_WINDOW
            self._hints.show("Ctrl+C again quits.", QUIT_WINDOW)

    @on(RequestCard.Opened)
    def action_answer(self) -> None:
        self.presenter.open_now()

    @on(NewBelowPill.Pressed)
    def action_chat(self) -> None:
        self.dock.show_chat()
        self.transcript.follow()
        self.set_focus(self.prompt)

    def action_mode(self) -> None:
        self.conversation.next_mode()

    def _start_turn(self, turn: Coroutine[None, None, None]) -> None:
        self.run_worker(turn, group="turn")

    def _turn_ended(self) -> None:
        self.run_worker(self._show_branch(), group="branch", exclusive=True)

    async def _show_branch(self) -> None:
        self.status.show(branch=await asyncio.to_thread(read_branch, self._directory))
