"""A dialog over everything else that typing cannot answer: every key goes through the guard first."""

from abc import abstractmethod
from collections.abc import Callable, Mapping

from textual import events, on
from textual.screen import ScreenResultType

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
from coder_tui.ui.launch import AnswerKeys
from coder_tui.ui.screens.armed import ArmedScreen
from coder_tui.ui.widgets.choices import AnswerLabel
from coder_tui.ui.widgets.guarded_dialog import GuardedDialog
from coder_tui.ui.widgets.seen_scroll import SeenScroll

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
