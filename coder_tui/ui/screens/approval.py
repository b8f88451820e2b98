"""The dialog that asks whether a call may run; every key goes through the guard first."""

from collections.abc import Callable
from dataclasses import dataclass

from textual import events, on
from textual.app import ComposeResult
from textual.screen import ModalScreen
from textual.timer import Timer

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
from coder_tui.ui.key_order import deliver
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.screens.gated import Gated
from coder_tui.ui.widgets.approval_dialog import ApprovalDialog
from coder_tui.ui.widgets.choices import AnswerLabel
from coder_tui.ui.widgets.lines import TooSmall
from coder_tui.ui.widgets.prompt import Prompt
from coder_tui.ui.widgets.prompt_history import PromptHistory, keep_in_memory
from coder_tui.ui.widgets.seen_scroll import SeenScroll

_HEIGHTS = [(0, "-cramped"), (16, "-roomy")]


@dataclass(frozen=True, slots=True)
class Closed:
    """`reply` is None when the dialog only docked or was withdrawn."""

    reply: ApprovalReply | None


def letters(request: ApprovalRequest) -> dict[str, Choice]:
    """Printable answers: the letter `y` allows only what can be undone, and else says what does."""
    found = {"n": Choice.DENY, "d": Choice.EXPLAIN}
    found["y"] = Choice.ALLOW if request.is_undoable else Choice.REMIND
    if request.grants:
        found["a"] = Choice.ALWAYS
    return found


class ApprovalScreen(Gated, ModalScreen[Closed]):
    """Shows one request. The app hands it keys and pastes before anything else sees them."""

    DEFAULT_CSS = """
    ApprovalScreen {
        align: center middle; background: $background 60%;
        &.-cramped #facts { display: none; }
        &.-cramped #facts-inside { display: block; }
    }
    """
    # In a modal screen the keys of the app do not hold.
    BINDINGS = bindings(Context.APPROVAL)
    VERTICAL_BREAKPOINTS = _HEIGHTS
    AUTO_FOCUS = ""
    help_context = Context.APPROVAL

    def __init__(
        self,
        request: ApprovalRequest,
        chrome: Chrome,
        spill: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        """`spill` takes typed characters to the draft."""
        super().__init__()
        self.request = request
        self.guard = ApprovalGuard(letters(request), len(request.grants), clock())
        self._reason = Prompt(
            PromptHistory((), keep_in_memory), self._explained, placeholder="Why not?", id="reason"
        )
        self._dialog = ApprovalDialog(request, chrome, self._reason)
        self._spill = spill
        self._clock = clock
        self._picked: int | None = None
        self._is_withdrawn = False
        self._timer: Timer | None = None

    @property
    def is_ready(self) -> bool:
        """Whether it says so, too."""
        return self._dialog.has_class("-ready") and self.guard.is_ready(self._clock())

    def compose(self) -> ComposeResult:
        yield self._dialog

    def on_mount(self) -> None:
        self.call_after_refresh(self.rearm)

    async def take(self, event: events.Key | events.Paste) -> bool:
        """The guard judges every key, unless words are typed into the field for a reason."""
        if self.focused is self._reason:
            if isinstance(event, events.Key) and event.key in {"escape", "ctrl+c"}:
                self._stop_explaining()
            else:
                await deliver(self, self._reason, event)
            return True
        if isinstance(event, events.Paste):
            return self._enact(self.guard.paste(event.text))
        return self._enact(self.guard.press(event.key, event.character, event.time))

    def show_place(self, place: str) -> None:
        self._dialog.show_place(place)

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
    def _resized(self, event: events.Resize) -> None:
        if TooSmall.is_too_small(event.size) and self.is_active:
            self._close(None)

    @on(SeenScroll.Moved)
    def _moved(self) -> None:
        self.call_after_refresh(self._look)

    @on(AnswerLabel.Pressed)
    def _clicked(self, event: AnswerLabel.Pressed) -> None:
        self._enact(self.guard.click(event.choice, event.at))

    def _explained(self, message: str) -> None:
        self._reason.show_draft("")
        self._close(ApprovalReply(Decision.DENY, message))

    def _enact(self, verdict: Verdict) -> bool:
        match verdict:
            case Chosen(choice):
                self._choose(choice)
            case Picked(index):
                self._picked = index
                self._dialog.note("")
            case Moved(by):
                self.guard.focused = self._dialog.row.next_after(self.guard.focused, by)
            case Demoted():
                self._close(None)
            case Passed(key):
                self._show_state()
                return self._dialog.scrolled.turn(key)
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
                self._dialog.note("")
                self._dialog.show_reason(is_open=True)
                self.set_focus(self._reason)
            case Choice.REMIND:
                self._dialog.note("This cannot be undone: Ctrl+Y allows it.")
            case Choice.ALLOW | Choice.ALWAYS:
                self._allow(choice)

    def _allow(self, choice: Choice) -> None:
        grants = self.request.grants
        if not self._dialog.scrolled.is_end_seen:
            self._dialog.note("Scroll to the end first: Down, PgDn or End.")
        elif self.guard.step is Step.ASK and choice is Choice.ALWAYS:
            self._dialog.note("")
            self.guard.enter(Step.SCOPE)
        elif self.guard.step is Step.ASK:
            self._close(ApprovalReply(Decision.ALLOW_ONCE))
        elif self._picked is None:
            self._dialog.note(f"Pick how far it reaches first: 1 to {len(grants)}.")
        else:
            self._close(ApprovalReply(Decision.ALLOW_ALWAYS, grant=grants[self._picked]))

    def _stop_explaining(self) -> None:
        self.set_focus(None)
        self._dialog.show_reason(is_open=False)
        self.rearm()

    def _close(self, reply: ApprovalReply | None) -> None:
        # First the characters, then the pop: the next key already goes to the prompt.
        if typed := self.guard.release() + self._reason.text:
            self._spill(typed)
        self.dismiss(Closed(reply))

    def _wake(self) -> None:
        # Through the app's queue: a key that came before the timer is then judged before it.
        self.app.call_later(self._woken)

    def _woken(self) -> None:
        if self.is_attached and self.is_active:
            self._enact(self.guard.wake(self._clock()))

    def _look(self) -> None:
        """What is painted counts as seen only while the dialog takes answers."""
        if self.is_attached and self.is_active and self.guard.is_ready(self._clock()):
            was_seen = self._dialog.scrolled.is_end_seen
            self._dialog.scrolled.look()
            if self._dialog.scrolled.is_end_seen and not was_seen:
                self._dialog.note("")
            self._dialog.show_ready(True)

    def _show_state(self) -> None:
        if not self.is_mounted or not self.is_active:
            return
        now = self._clock()
        is_ready = self.guard.is_ready(now)
        self._dialog.show_scopes(is_open=self.guard.step is Step.SCOPE, picked=self._picked)
        self._dialog.show_ready(is_ready)
        self._dialog.row.mark(self.guard.focused)
        if is_ready:
            self.call_after_refresh(self._look)
        if self._timer is not None:
            self._timer.stop()
        wait = self.guard.wakes_at - now
        self._timer = self.set_timer(wait, self._wake) if wait > 0 else None
