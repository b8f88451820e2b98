"""The dialog that asks whether a call may run; every key goes through the guard first."""

from collections.abc import Callable
from dataclasses import dataclass

from textual import events, on
from textual.app import ComposeResult
from textual.timer import Timer
from textual.widgets import Input

from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest, Decision
from coder_tui.ui.approval_guard import (
    ApprovalGuard,
    Choice,
    Chosen,
    Demoted,
    Moved,
    Passed,
    Picked,
    Stay,
    Step,
    Verdict,
)
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.screens.gated import GatedScreen
from coder_tui.ui.widgets.approval_dialog import ApprovalDialog
from coder_tui.ui.widgets.choices import AnswerLabel
from coder_tui.ui.widgets.preview import Preview


@dataclass(frozen=True, slots=True)
class Closed:
    """`reply` is None when the dialog only docked or was withdrawn."""

    reply: ApprovalReply | None


def letters(request: ApprovalRequest) -> dict[str, Choice]:
    """Printable answers: the letter `y` only for what can be undone."""
    found = {"n": Choice.DENY, "d": Choice.EXPLAIN}
    if request.is_undoable:
        found["y"] = Choice.ALLOW
    if request.grants:
        found["a"] = Choice.ALWAYS
    return found


class ApprovalScreen(GatedScreen[Closed]):
    """Shows one request. The app hands it keys and pastes before anything else sees them."""

    DEFAULT_CSS = "ApprovalScreen { align: center middle; background: $background 60%; }"
    AUTO_FOCUS = ""

    def __init__(
        self,
        request: ApprovalRequest,
        place: str,
        chrome: Chrome,
        spill: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        """`place` is such as `1 of 3`; `spill` takes typed characters to the draft."""
        super().__init__()
        self.request = request
        self.guard = ApprovalGuard(letters(request), len(request.grants), clock())
        self._dialog = ApprovalDialog(request, place, chrome)
        self._spill = spill
        self._clock = clock
        self._picked: int | None = None
        self._is_end_shown = False
        self._is_withdrawn = False
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield self._dialog

    def on_mount(self) -> None:
        self.call_after_refresh(self.rearm)

    def take(self, event: events.Key | events.Paste) -> bool:
        """The guard judges every key, unless words are typed into the field for a reason."""
        if self.focused is not None:
            return isinstance(event, events.Key) and event.key == "escape" and self._stop_explaining()
        if isinstance(event, events.Paste):
            return self._enact(self.guard.paste(event.text))
        return self._enact(self.guard.press(event.key, event.character, event.time))

    def rearm(self) -> None:
        """The dialog was just shown, or the terminal got the focus back."""
        self.guard.rearm(self._clock())
        self._show_state()

    def withdraw(self) -> None:
        """The question is void; close as soon as this is the top screen."""
        self._is_withdrawn = True
        if self.is_active:
            self._close(None)

    @on(events.ScreenResume)
    def _resumed(self) -> None:
        if self._is_withdrawn:
            self._close(None)
        else:
            self.rearm()

    @on(events.Resize)
    def _resized(self) -> None:
        self.call_after_refresh(self._fit)

    @on(Preview.EndShown)
    def _end_shown(self) -> None:
        self._is_end_shown = True
        self._dialog.enable()
        self._dialog.note("")

    @on(AnswerLabel.Pressed)
    def _clicked(self, event: AnswerLabel.Pressed) -> None:
        self._enact(self.guard.click(event.choice, event.at))

    @on(Input.Submitted)
    def _explained(self, event: Input.Submitted) -> None:
        self._dialog.reason.clear()
        self._close(ApprovalReply(Decision.DENY, event.value))

    def _enact(self, verdict: Verdict) -> bool:
        match verdict:
            case Chosen(choice):
                self._choose(choice)
            case Picked(index):
                self._picked = index
            case Moved(by):
                self.guard.focused = self._dialog.row.next_after(self.guard.focused, by)
            case Demoted():
                self._close(None)
            case Passed(key):
                self._show_state()
                return self._dialog.preview.turn(key)
            case Stay():
                pass
        self._show_state()
        return True

    def _choose(self, choice: Choice) -> None:
        match choice:
            case Choice.DENY:
                self._close(ApprovalReply(Decision.DENY))
            case Choice.CANCEL:
                self._close(ApprovalReply(Decision.CANCEL_TURN))
            case Choice.EXPLAIN:
                self._explain()
            case Choice.ALWAYS if self.guard.step is Step.ASK:
                self.guard.enter(Step.SCOPE)
                self.call_after_refresh(self._fit)
            case Choice.ALLOW | Choice.ALWAYS:
                self._allow()

    def _allow(self) -> None:
        if not self._is_end_shown:
            self._dialog.note("Scroll to the end first: ↓, PgDn or End.")
            self.call_after_refresh(self._fit)
        elif self.guard.step is Step.ASK:
            self._close(ApprovalReply(Decision.ALLOW_ONCE))
        elif self._picked is not None:
            self._close(ApprovalReply(Decision.ALLOW_ALWAYS, grant=self.request.grants[self._picked]))

    def _explain(self) -> None:
        self._dialog.reason.display = True
        self._dialog.reason.focus()
        self.call_after_refresh(self._fit)

    def _stop_explaining(self) -> bool:
        self.set_focus(None)
        self._dialog.reason.display = False
        self.rearm()
        self.call_after_refresh(self._fit)
        return True

    def _close(self, reply: ApprovalReply | None) -> None:
        # First the characters, then the pop: the next key already goes to the prompt.
        if typed := self.guard.release() + self._dialog.reason.value:
            self._spill(typed)
        self.dismiss(Closed(reply))

    def _fit(self) -> None:
        self._dialog.fit(self.size.height)

    def _wake(self) -> None:
        # Through the app's queue: a key that came before the timer is then judged before it.
        self.app.call_later(self._woken)

    def _woken(self) -> None:
        if self.is_attached and self.is_active:
            self._enact(self.guard.wake(self._clock()))

    def _show_state(self) -> None:
        if not self.is_mounted or not self.is_active:
            return
        now = self._clock()
        self._dialog.show_ready(self.guard.is_ready(now))
        self._dialog.show_scopes(is_open=self.guard.step is Step.SCOPE, picked=self._picked)
        self._dialog.row.mark(self.guard.focused)
        if self._timer is not None:
            self._timer.stop()
        wait = self.guard.wakes_at - now
        self._timer = self.set_timer(wait, self._wake) if wait > 0 else None
