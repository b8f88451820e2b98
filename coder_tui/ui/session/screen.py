"""The session: transcript, prompt and what surrounds them."""

import asyncio
from collections.abc import Callable, Coroutine
from importlib import import_module
from typing import TYPE_CHECKING

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.geometry import Size
from textual.screen import Screen
from textual.widgets import Static, TextArea

from coder_tui.ui.chrome.status_bar import StatusBar, read_branch
from coder_tui.ui.glyphs import chrome
from coder_tui.ui.keymap import deliver, named
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.launch import Launch
from coder_tui.ui.panes.names import MEDIUM, WIDE
from coder_tui.ui.prompt.prompt import Prompt, PromptHistory, keep_in_memory
from coder_tui.ui.session.base import Gated
from coder_tui.ui.session.list_actions import PickerActions, ReportActions, WorkActions
from coder_tui.ui.session.pane_actions import PaneActions
from coder_tui.ui.session.prompt_actions import ForkActions, PromptActions, ReadingActions
from coder_tui.ui.textual_internals import guarded

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.ui.session.parts import Furniture
    from coder_tui.ui.session.router import EventRouter
    from coder_tui.ui.transcript.transcript import Transcript


QUIT_WINDOW = 2.0
_WIDTHS = [(0, "-narrow"), (MEDIUM, "-medium"), (WIDE, "-wide")]
_HEIGHTS = [(0, "-short"), (30, "-tall")]


def _class_for(cells: int, breakpoints: list[tuple[int, str]]) -> str:
    return max((least, name) for least, name in breakpoints if least <= cells)[1]


class SessionScreen(
    Gated,
    ReadingActions,
    PaneActions,
    PickerActions,
    PromptActions,
    ForkActions,
    ReportActions,
    WorkActions,
    Screen[None],
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
        self.prompt = Prompt(PromptHistory((), keep_in_memory), self._submitted, holds_chips=True)
        self.status = StatusBar(signs, launch.directory)
        self.is_furnished = False
        self.router: EventRouter | None = None

    def compose(self) -> ComposeResult:
        """What is seen before anything was said; the rest comes behind the first paint, hidden at first."""
        # Textual sets these at the first resize, when all is styled and laid out already, and does it again.
        size = self.app.size
        names = _class_for(size.width, _WIDTHS), _class_for(size.height, _HEIGHTS)
        self.add_class(*names, update=False)
        with Container(id="body"):
            yield Container(id="chat")
        with Container(id="composer"):
            yield Static(self.chrome.prompt, id="sign", markup=False)
            yield self.prompt
        yield self.status

    async def furnish(self) -> None:
        """Bring in all that the first paint did without, before a session is attached."""
        await asyncio.to_thread(import_module, "coder_tui.ui.session.parts")
        await self.furniture.mount()
        self.is_furnished = True
        self._measure(self.size)
        self.composing.completer.look()

    def make_furniture(self) -> "Furniture":
        from coder_tui.ui.session.parts import Furniture

        clock, start = self._clock, self._start_turn
        return Furniture(self, self.prompt, self.launch, self.chrome, clock, start, lambda: self._directory)

    def attach(self, session: "Session", *, is_again: bool = False) -> None:
        """Show the session as it stands, and follow it from here; `is_again` where it was shown before."""
        earlier = session.history()
        self._directory = session.directory
        self.router = router = self._build_router()
        self.attention.begin(self._directory.name)
        with self.transcript.adding_many():
            router.route_earlier(earlier, is_again=is_again)
        self.prompt.sent.seed(router.sent)
        if not router.sent:
            self.furniture.welcome.show(self._directory)
        listeners = router.route, self.attention.hear, self.furniture.unsent.hear
        self.conversation.attach(session, *(guarded(self.app, each) for each in listeners))
        self.conversation.at_detaching(self.follow_jobs(session))
        self.run_worker(self.composing.recall(session), group="recall")
        self.furniture.unsent.begin(session, is_again=is_again, is_begun=bool(router.sent))
        self.follow_changes(session)
        self._turn_ended()

    def _build_router(self) -> "EventRouter":
        # The types of all events take 12 ms to define: not before the first paint.
        from coder_tui.ui.session.router import EventRouter, Panes

        panes = Panes(
            self.transcript,
            self.status,
            self.dock,
            self.furniture.queue,
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
        if not self.is_furnished:
            await deliver(self, self.prompt, event)
            return True
        self.presenter.pressed(event.time)
        if not await self.composing.take(event):
            await deliver(self, self.prompt, event)
        self.composing.completer.look()
        # A turn that was just sent begins before the next key, which may be the one that stops it.
        await asyncio.sleep(0)
        return True

    def _submitted(self, text: str) -> None:
        self.presenter.forget_cancelled()
        if text.startswith("!"):
            self.furniture.welcome.hide()
        if self.composing.takes(text) or self.sends_again(text):
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
        if self.is_furnished:
            self.composing.completer.look()
            self.presenter.consider()
            self.furniture.unsent.look()

    def on_transcript_new_below(self, event: "Transcript.NewBelow") -> None:
        self.furniture.pill.show(event.count)

    def on_resize(self, event: events.Resize) -> None:
        if self.is_furnished:
            self._measure(event.size)

    def _measure(self, size: Size) -> None:
        self.dock.set_room(size)
        self.set_class(self.furniture.too_small.is_too_small(size), "-tiny")
        self.presenter.consider()

    def action_escape(self) -> None:
        self.clear_selection()
        if not self.presenter.has_just_closed and not self.forgets_again() and not self._stop():
            self.set_focus(self.prompt)

    def _stop(self) -> bool:
        """End the person's own command, else the turn; False when neither runs."""
        composing = self.composing
        return composing.shell.stop() or composing.commands.stop() or self.conversation.interrupt()

    async def action_cancel(self) -> None:
        """Copy, else stash the draft, else stop the agent, else quit at the second press."""
        selected = self.prompt.selected_text or self.get_selected_text()
        if selected:
            self.reader.copy(selected)
        elif not self.prompt.is_empty:
            self.prompt.stash()
            self.hints.show("Draft put away: Up brings it back.")
        elif self._stop():
            pass
        elif self._clock() < self._quit_until:
            await self.app.action_quit()
        else:
            self._quit_until = self._clock() + QUIT_WINDOW
            self.hints.show(named(self, "Ctrl+C again quits.", Context.SESSION), QUIT_WINDOW)

    def on_request_card_opened(self) -> None:
        self.action_answer()

    def action_answer(self) -> None:
        self.presenter.open_now()

    def on_new_below_pill_pressed(self) -> None:
        self.action_chat()

    def action_chat(self) -> None:
        self.dock.show_chat()
        self.transcript.follow()
        self.set_focus(self.prompt)

    def action_mode(self) -> None:
        self.conversation.next_mode()

    def _start_turn(self, turn: Coroutine[None, None, None]) -> None:
        self.furniture.welcome.hide()
        self.run_worker(turn, group="turn")

    def _turn_ended(self) -> None:
        self._show_branch()
        if (session := self.conversation.session) is not None:
            self.run_worker(session.verifier.offer(), group="verify")

    @work(group="branch", exclusive=True)
    async def _show_branch(self) -> None:
        branch, session = await asyncio.to_thread(read_branch, self._directory), self.conversation.session
        if not self.status.status.branch:
            self.status.show(branch=branch)
        has_changes = branch and session is not None and await session.has_git_changes()
        self.status.show(branch=f"{branch}*" if has_changes else branch)
