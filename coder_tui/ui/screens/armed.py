"""A dialog over everything else that takes no answer before there was a moment of silence."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Protocol

from textual import events, on
from textual.screen import ModalScreen, ScreenResultType
from textual.timer import Timer

from coder_tui.ui.screens.gated import Gated
from coder_tui.ui.widgets.guarded_dialog import GuardedDialog
from coder_tui.ui.widgets.lines import TooSmall

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
