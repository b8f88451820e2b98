"""A dialog over everything else that takes no answer before there was a moment of silence.

A dialog over everything else that typing cannot answer: every key goes through the guard first.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Protocol

from textual import events, on
from textual.screen import ModalScreen, ScreenResultType
from textual.timer import Timer

from coder_tui.ui.chrome.banners import TooSmall
from coder_tui.ui.launch import AnswerKeys
from coder_tui.ui.requests.dialog_frame import AnswerLabel, GuardedDialog
from coder_tui.ui.requests.key_guard import (
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
from coder_tui.ui.requests.seen_scroll import SeenScroll
from coder_tui.ui.session.base import Gated

A_HAIR = 0.001
"""Seconds. Timers come up to half as much too early; then the moment that they are for would pass between
two looks at the clock, and nothing would wake the guard again."""


class Arming(Protocol):
    """What a guard knows of time; keys are between it and the screen."""

    def is_ready(self, at: float) -> bool: ...
    def rearm(self, at: float) -> None: ...
    @property
    def wakes_at(self) -> float: ...


class ArmedScreen(Gated, ModalScreen[ScreenResultType]):
    """The app hands it keys and pastes before anything else sees them."""

    DEFAULT_CSS = "ArmedScreen { align: center middle; background: $background 60%; }"
    AUTO_FOCUS = ""

    def __init__(self, dialog: GuardedDialog, arming: Arming, clock: Callable[[], float]) -> None:
        super().__init__()
        self._arming = arming
        self._frame = dialog
        self._clock = clock
        self._timer: Timer | None = None

    @property
    def is_ready(self) -> bool:
        """Whether it says so, too."""
        return self._frame.has_class("-ready") and self._arming.is_ready(self._clock())

    @abstractmethod
    def dock(self) -> None:
        """It was typing, or there is no room: go away unanswered, and give back what was typed."""

    @abstractmethod
    def woken(self) -> None:
        """The time has come that the guard waited for."""

    def show_step(self) -> None:
        """Show where in the dialog the person is."""

    def on_mount(self) -> None:
        self.call_after_refresh(self.rearm)

    def rearm(self) -> None:
        """The dialog was just shown, or the terminal got the focus back."""
        self._arming.rearm(self._clock())
        self.show_state()

    def show_state(self) -> None:
        if not self.is_mounted or not self.is_active:
            return
        now = self._clock()
        self.show_step()
        self._frame.show_ready(self._arming.is_ready(now))
        wait = self._arming.wakes_at - now
        if wait > 0:
            # One whose time has come is left alone: it is on its way, and nothing else would wake the guard.
            if self._timer is not None:
                self._timer.stop()
            self._timer = self.set_timer(wait + A_HAIR, self._wake)

    @on(events.ScreenResume)
    def _resumed(self) -> None:
        self.rearm()

    @on(events.Resize)
    def _resized(self, event: events.Resize) -> None:
        if TooSmall.is_too_small(event.size) and self.is_active:
            self.dock()

    def _wake(self) -> None:
        # Through the app's queue: a key that came before the timer is then judged before it.
        self.app.call_later(self._woken)

    def _woken(self) -> None:
        if self.is_attached and self.is_active:
            self.woken()


SCROLL_FIRST = "Scroll to the end first: Down, PgDn or End."


def guarding(
    letters: Mapping[str, Choice], scopes: int, at: float, keys: AnswerKeys, moves: str = ""
) -> ApprovalGuard:
    """A guard that takes each letter with Alt, and alone only where the person wants that."""
    chords = {f"alt+{'w' if letter == '?' else letter}": choice for letter, choice in letters.items()}
    if keys is AnswerKeys.LETTERS:
        return ApprovalGuard(letters, scopes, at, chords, moves)
    return ApprovalGuard({}, scopes, at, chords)


class GuardedScreen(ArmedScreen[ScreenResultType]):
    """Answers stand in a row; each has a key, and a mark that Tab moves."""

    def __init__(self, dialog: GuardedDialog, guard: ApprovalGuard, clock: Callable[[], float]) -> None:
        super().__init__(dialog, guard, clock)
        self.guard = guard

    @abstractmethod
    def choose(self, choice: Choice) -> None:
        """An answer was given on purpose."""

    def pick(self, index: int) -> None:
        """One of the numbered lines was marked."""

    def move(self, key: str) -> bool:
        """Whether a key that answers nothing moved something besides the page."""
        return False

    async def take(self, event: events.Key | events.Paste) -> bool:
        if isinstance(event, events.Paste):
            return self._enact(self.guard.paste(event.text))
        return self._enact(self.guard.press(event.key, event.character, event.time))

    def woken(self) -> None:
        self._enact(self.guard.wake(self._clock()))

    def show_state(self) -> None:
        super().show_state()
        if self.is_mounted and self.is_active:
            self._frame.row.mark(self.guard.focused)
            if self.guard.is_ready(self._clock()):
                self.call_after_refresh(self._look)

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
                return self.move(key) or self._frame.scrolled.turn(key)
            case Stay():
                pass
        self.show_state()
        return True

    def _look(self) -> None:
        """What is painted counts as seen only while the dialog takes answers."""
        if self.is_attached and self.is_active and self.guard.is_ready(self._clock()):
            was_seen = self._frame.scrolled.is_end_seen
            self._frame.scrolled.look()
            if self._frame.scrolled.is_end_seen and not was_seen:
                self._frame.note("")
            self._frame.show_ready(True)
