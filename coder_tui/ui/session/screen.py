"""The session: transcript, prompt and what surrounds them."""

import asyncio
from collections.abc import Callable
from functools import cached_property
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
from coder_tui.ui.keymap import KeyFirstScreen, dispatch_key, named
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.launch import Launch
from coder_tui.ui.panes.names import MEDIUM, WIDE
from coder_tui.ui.prompt.chips import ChipField
from coder_tui.ui.prompt.prompt import Prompt, PromptHistory
from coder_tui.ui.session.body import SessionBody
from coder_tui.ui.textual_internals import guarded

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.ui.panes.pane import PaneTabs
    from coder_tui.ui.prompt.completion_list import CompletionList
    from coder_tui.ui.session.parts import SessionWidgets
    from coder_tui.ui.session.router import EventRouter
    from coder_tui.ui.session_switch import SessionSwitch
    from coder_tui.ui.transcript.transcript import Transcript


_WIDTHS = [(0, "-narrow"), (MEDIUM, "-medium"), (WIDE, "-wide")]
_HEIGHTS = [(0, "-short"), (30, "-tall")]


def _class_for(cells: int, breakpoints: list[tuple[int, str]]) -> str:
    return max((least, name) for least, name in breakpoints if least <= cells)[1]


class SessionScreen(KeyFirstScreen, Screen[None]):
    """Lays the widgets out, offers them each key, and attaches a session to them."""

    BINDINGS = bindings(Context.SESSION)
    HORIZONTAL_BREAKPOINTS = _WIDTHS
    VERTICAL_BREAKPOINTS = _HEIGHTS
    AUTO_FOCUS = "#prompt"
    help_context = Context.SESSION

    def __init__(
        self, launch: Launch, clock: Callable[[], float], switch: "Callable[[], SessionSwitch]"
    ) -> None:
        """`switch` returns the object that puts another session on the screen; it is loaded at first use."""
        super().__init__()
        self.directory = launch.directory
        """The session's folder."""
        self.chrome = chrome(use_ascii=launch.use_ascii)
        self.launch = launch
        self.switch = switch
        self.clock = clock
        self.prompt = Prompt(PromptHistory(), self._submitted, holds_chips=True)
        self.status = StatusBar(self.chrome, launch.directory)
        self.body = SessionBody(self)
        self.is_fully_mounted = False
        """Whether all widgets are on the screen; before that, asking for one of them delays the start."""
        self.router: EventRouter | None = None

    def compose(self) -> ComposeResult:
        """Compose what the first paint shows; the rest is mounted after it, hidden at first."""
        # Textual sets these at the first resize, when all is styled and laid out already, and does it again.
        size = self.app.size
        names = _class_for(size.width, _WIDTHS), _class_for(size.height, _HEIGHTS)
        self.add_class(*names, update=False)
        with self.body:
            yield Container(id="chat")
        with Container(id="composer"):
            yield Static(self.chrome.prompt, id="sign", markup=False)
            yield self.prompt
        yield self.status

    @cached_property
    def widgets(self) -> "SessionWidgets":
        """Everything that the first paint does without; the first use makes it."""
        from coder_tui.ui.session.parts import SessionWidgets

        return SessionWidgets(self)

    @property
    def transcript(self) -> "Transcript":
        return self.widgets.transcript

    async def mount_rest(self) -> None:
        """Mount what the first paint did without, before a session is attached."""
        await asyncio.to_thread(import_module, "coder_tui.ui.session.parts")
        await self.widgets.mount()
        self.is_fully_mounted = True
        self._measure(self.size)
        self.widgets.composing.completer.update()

    def attach(self, session: "Session", *, is_again: bool = False) -> None:
        """Show the session as it stands, and follow it from here; `is_again` if it was shown before."""
        widgets = self.widgets
        earlier = session.history()
        self.directory = session.directory
        self.router = router = self._build_router()
        widgets.attention.begin(self.directory.name)
        with widgets.transcript.history.adding_many():
            router.route_earlier(earlier, is_again=is_again)
        self.prompt.sent.seed(router.sent)
        if not router.sent:
            widgets.welcome.show(self.directory)
        listeners = router.route, widgets.attention.handle_event, widgets.drafts.handle_event
        widgets.sender.attach(session, *(guarded(self.app, each) for each in listeners))
        widgets.sender.on_detach(widgets.lists.follow_jobs(session))
        self.run_worker(widgets.composing.recall(session), group="recall")
        widgets.drafts.begin(session, is_again=is_again, is_begun=bool(router.sent))
        self.body.follow_changes(session)
        self.turn_ended()

    def _build_router(self) -> "EventRouter":
        # The types of all events take 12 ms to define: not before the first paint.
        from coder_tui.ui.session.router import EventRouter

        return EventRouter(self)

    def offers(self, name: str) -> bool:
        """Return whether the action of a row of keys, by its id, would do something now."""
        return name != "session.answer" or self.widgets.presenter.has_requests

    async def handle_input(self, event: events.Key | events.Paste) -> bool:
        if not self.is_fully_mounted:
            await dispatch_key(self, self.prompt, event)
            return True
        composing = self.widgets.composing
        self.widgets.presenter.pressed(event.time)
        if not await composing.handle_input(event):
            await dispatch_key(self, self.prompt, event)
        composing.completer.update()
        # A turn that was just sent begins before the next key, which may be the one that stops it.
        await asyncio.sleep(0)
        return True

    async def action_run(self, name: str) -> None:
        await self.widgets.actions.run(name)

    def _submitted(self, text: str) -> None:
        widgets = self.widgets
        widgets.presenter.forget_cancelled()
        if text.startswith("!"):
            widgets.welcome.hide()
        if widgets.composing.run_line(text) or widgets.fork_editor.submit(text):
            return
        widgets.dock.show_chat()
        widgets.transcript.view.follow()
        widgets.sender.send(text)

    @on(Prompt.Ended)
    async def _prompt_ended(self) -> None:
        await self.app.action_quit()

    @on(TextArea.Changed)
    @on(events.ScreenResume)
    def _may_present(self) -> None:
        if self.is_fully_mounted:
            self.widgets.fork_editor.prompt_changed()
            self.widgets.composing.completer.update()
            self.widgets.presenter.consider()
            self.widgets.drafts.schedule_save()

    def on_resize(self, event: events.Resize) -> None:
        if self.is_fully_mounted:
            self._measure(event.size)

    def _measure(self, size: Size) -> None:
        self.widgets.dock.set_room(size)
        self.set_class(self.widgets.too_small.is_too_small(size), "-tiny")
        self.widgets.presenter.consider()

    def on_chip_field_refused(self, event: ChipField.Refused) -> None:
        self.widgets.hints.show(named(self, event.reason, Context.COMPOSER))

    def on_completion_list_clicked(self, event: "CompletionList.Clicked") -> None:
        self.widgets.composing.completer.click(event.index)

    def on_request_card_opened(self) -> None:
        self.widgets.presenter.open_now()

    def on_pane_tabs_picked(self, event: "PaneTabs.Picked") -> None:
        if event.pane is None:
            self.body.on_pane_left()
        else:
            self.body.open_pane(event.pane)

    def turn_ended(self) -> None:
        self._show_branch()
        if (session := self.widgets.sender.session) is not None:
            self.run_worker(session.verifier.offer(), group="verify")

    @work(group="branch", exclusive=True)
    async def _show_branch(self) -> None:
        branch, session = await asyncio.to_thread(read_branch, self.directory), self.widgets.sender.session
        if not self.status.status.branch:
            self.status.show(branch=branch)
        has_changes = branch and session is not None and await session.has_git_changes()
        self.status.show(branch=f"{branch}*" if has_changes else branch)
