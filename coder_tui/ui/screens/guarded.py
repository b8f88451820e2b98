"""A dialog over everything else that typing cannot answer: every key goes through the guard first."""

from abc import abstractmethod
from collections.abc import Callable

from textual import events, on
from textual.screen import ModalScreen, ScreenResultType
from textual.timer import Timer

from coder_tui.ui.approval_guard import (
    ApprovalGuard,
    Choice,
    Chosen,
    Demoted,
    Moved,
    Passed,
    Picked,
    Stay,
    Verdict,
)
from coder_tui.ui.screens.gated import Gated
from coder_tui.ui.widgets.choices import AnswerLabel
from coder_tui.ui.widgets.guarded_dialog import GuardedDialog
from coder_tui.ui.widgets.lines import TooSmall
from coder_tui.ui.widgets.seen_scroll import SeenScroll

SCROLL_FIRST = "Scroll to the end first: Down, PgDn or End."


class GuardedScreen(Gated, ModalScreen[ScreenResultType]):
    """The app hands it keys and pastes before anything else sees them."""

    DEFAULT_CSS = "GuardedScreen { align: center middle; background: $background 60%; }"
    AUTO_FOCUS = ""

    def __init__(self, dialog: GuardedDialog, guard: ApprovalGuard, clock: Callable[[], float]) -> None:
        super().__init__()
        self.guard = guard
        self._frame = dialog
        self._clock = clock
        self._timer: Timer | None = None

    @property
    def is_ready(self) -> bool:
        """Whether it says so, too."""
        return self._frame.has_class("-ready") and self.guard.is_ready(self._clock())

    @abstractmethod
    def choose(self, choice: Choice) -> None:
        """An answer was given on purpose."""

    @abstractmethod
    def dock(self) -> None:
        """It was typing, or there is no room: go away unanswered, and give back what was typed."""

    def pick(self, index: int) -> None:
        """One of the numbered lines was marked."""

    def show_step(self) -> None:
        """Show where in the dialog the person is."""

    def on_mount(self) -> None:
        self.call_after_refresh(self.rearm)

    async def take(self, event: events.Key | events.Paste) -> bool:
        if isinstance(event, events.Paste):
            return self._enact(self.guard.paste(event.text))
        return self._enact(self.guard.press(event.key, event.character, event.time))

    def rearm(self) -> None:
        """The dialog was just shown, or the terminal got the focus back."""
        self.guard.rearm(self._clock())
        self.show_state()

    @on(events.ScreenResume)
    def _resumed(self) -> None:
        self.rearm()

    @on(events.Resize)
    def _resized(self, event: events.Resize) -> None:
        if TooSmall.is_too_small(event.size) and self.is_active:
            self.dock()

    @on(SeenScroll.Moved)
    def _moved(self) -> None:
        self.call_after_refresh(self._look)

    @on(AnswerLabel.Pressed)
    def _clicked(self, event: AnswerLabel.Pressed) -> None:
        self._enact(self.guard.click(event.choice, event.at))

    def _enact(self, verdict: Verdict) -> bool:
        match verdict:
            case Chosen(choice):
                self.choose(choice)
            case Picked(index):
                self.pick(index)
            case Moved(by):
                self.guard.focused = self._frame.row.next_after(self.guard.focused, by)
            case Demoted():
                self.dock()
            case Passed(key):
                self.show_state()
                return self._frame.scrolled.turn(key)
            case Stay():
                pass
        self.show_state()
        return True

    def _wake(self) -> None:
        # Through the app's queue: a key that came before the timer is then judged before it.
        self.app.call_later(self._woken)

    def _woken(self) -> None:
        if self.is_attached and self.is_active:
            self._enact(self.guard.wake(self._clock()))

    def _look(self) -> None:
        """What is painted counts as seen only while the dialog takes answers."""
        if self.is_attached and self.is_active and self.guard.is_ready(self._clock()):
            was_seen = self._frame.scrolled.is_end_seen
            self._frame.scrolled.look()
            if self._frame.scrolled.is_end_seen and not was_seen:
                self._frame.note("")
            self._frame.show_ready(True)

    def show_state(self) -> None:
        if not self.is_mounted or not self.is_active:
            return
        now = self._clock()
        is_ready = self.guard.is_ready(now)
        self.show_step()
        self._frame.show_ready(is_ready)
        self._frame.row.mark(self.guard.focused)
        if is_ready:
            self.call_after_refresh(self._look)
        if self._timer is not None:
            self._timer.stop()
        wait = self.guard.wakes_at - now
        self._timer = self.set_timer(wait, self._wake) if wait > 0 else None
