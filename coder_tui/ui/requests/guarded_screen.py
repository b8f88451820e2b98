"""Base screens of the dialogs that show a request.

`RequestScreen` is the base of all, `GuardedScreen` of those with a row of answers, and
`EditableRequestScreen` of those whose request can be edited or refused with a reason.
"""

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.worker import Worker, WorkerCancelled

from coder_tui.protocol.requests import Editable, Reply
from coder_tui.ui.chrome.banners import TooSmall, Waiting
from coder_tui.ui.external_editor import Outcome
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keymap import KeyFirstScreen, dispatch_key
from coder_tui.ui.launch import AnswerKeys
from coder_tui.ui.prompt.prompt import Prompt, PromptHistory
from coder_tui.ui.requests.dialog_frame import AnswerLabel, GuardedDialog, MustReadScroll
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

A_HAIR = 0.001
"""Seconds. Timers fire up to half as much too early. The guard would then not be due yet, and nothing would
wake it again."""

SCROLL_FIRST = "Scroll to the end first (Down, PgDn or End)."
LEAVING = frozenset({"escape", "ctrl+c"})

ReplyType = TypeVar("ReplyType")


class Guard(Protocol):
    """When answers count. How keys are judged is up to each guard and its screen."""

    def is_ready(self, at: float) -> bool: ...
    def rearm(self, at: float) -> None: ...
    @property
    def wakes_at(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Closed(Generic[ReplyType]):
    """How a dialog closed. `reply` is None if it was only docked or withdrawn."""

    reply: ReplyType | None
    wants_list: bool = False
    """Whether to show the list of pending requests next."""


Edit = Callable[[Editable], Awaitable[Outcome]]
"""Lets the user edit a text in an external editor, which has the terminal until it closes."""


@dataclass(frozen=True, slots=True)
class DialogContext:
    """What all dialogs are given. `spill` adds typed characters to the draft."""

    chrome: Chrome
    spill: Callable[[str], None]
    clock: Callable[[], float]
    keys: AnswerKeys


class RequestScreen(KeyFirstScreen, ModalScreen[Closed[ReplyType]]):
    """Accepts no answer before a moment without keys. It ends answered, docked or withdrawn.

    The app gives it keys and pastes before anything else sees them.
    """

    DEFAULT_CSS = "RequestScreen { align: center middle; background: $background 60%; }"
    AUTO_FOCUS = ""

    def __init__(self, dialog: GuardedDialog, guard: Guard, context: DialogContext) -> None:
        super().__init__()
        self._dialog = dialog
        self.guard = guard
        self._spill = context.spill
        self._clock = context.clock
        self._timer: Timer | None = None
        self._is_withdrawn = False
        self._away: Worker[None] | None = None
        """The worker of an external editor while that has the terminal."""

    def compose(self) -> ComposeResult:
        yield self._dialog

    @property
    def is_ready(self) -> bool:
        """Whether an answer counts now, and the dialog shows that."""
        return self._dialog.has_class("-ready") and self.guard.is_ready(self._clock())

    @abstractmethod
    def woken(self) -> None:
        """Continue: the time that the guard waited for has come."""

    def show_step(self) -> None:
        """Show where in the dialog the user is."""

    def typed(self) -> str:
        """Return the characters that were no answer. Each is returned once."""
        return ""

    def on_mount(self) -> None:
        self.call_after_refresh(self.rearm)

    def rearm(self) -> None:
        """Wait for a pause again: the dialog was just shown, or the terminal regained the focus."""
        self.guard.rearm(self._clock())
        self.show_state()

    def show_state(self) -> None:
        if not self.is_mounted or not self.is_active:
            return
        now = self._clock()
        self.show_step()
        self._dialog.show_ready(self.guard.is_ready(now))
        wait = self.guard.wakes_at - now
        if wait > 0:
            # A timer that is due is not replaced: it is about to fire, and nothing else would wake the guard.
            if self._timer is not None:
                self._timer.stop()
            self._timer = self.set_timer(wait + A_HAIR, self._wake)

    def mark_seen(self) -> None:
        """Count what is painted as seen, but only while the dialog accepts answers."""
        if self.is_attached and self.is_active and self.guard.is_ready(self._clock()):
            self._dialog.scrolled.mark_seen()
            self._dialog.show_ready(True)

    def show_queue(self, place: str, others: Waiting) -> None:
        self._dialog.show_queue(place, others)

    def withdraw(self) -> None:
        """Close once this is the top screen and no editor is open: the request is no longer needed."""
        self._is_withdrawn = True
        if self.is_active and self._away is None:
            self.dock()

    async def stop_editing(self) -> None:
        """End the external editor and reclaim the terminal, because the program is about to exit."""
        if self._away is not None:
            self._away.cancel()
            with suppress(WorkerCancelled):
                await self._away.wait()

    def dock(self) -> None:
        """Close unanswered and return what was typed: the user was typing, or there is no room."""
        self.close(None)

    def close(self, reply: ReplyType | None, *, wants_list: bool = False) -> None:
        # Return the characters before the screen is popped: the next key already goes to the prompt.
        if typed := self.typed():
            self._spill(typed)
        self.dismiss(Closed(reply, wants_list))

    def action_list(self) -> None:
        self.close(None, wants_list=True)

    @on(events.ScreenResume)
    def _resumed(self) -> None:
        if self._is_withdrawn:
            self.dock()
        else:
            self.rearm()

    @on(events.Resize)
    def _resized(self, event: events.Resize) -> None:
        if TooSmall.is_too_small(event.size) and self.is_active:
            self.dock()

    @on(MustReadScroll.Moved)
    def _moved(self) -> None:
        self.call_after_refresh(self.mark_seen)

    def _wake(self) -> None:
        # Through the app's queue, so that a key pressed before the timer fired is judged first.
        self.app.call_later(self._woken)

    def _woken(self) -> None:
        if self.is_attached and self.is_active:
            self.woken()


def make_guard(
    context: DialogContext, letters: Mapping[str, Choice], scopes: int = 0, moves: str = ""
) -> ApprovalGuard:
    """Return a guard that accepts each letter with Alt, and alone only if the user's settings allow it."""
    at = context.clock()
    chords = {f"alt+{'w' if letter == '?' else letter}": choice for letter, choice in letters.items()}
    if context.keys is AnswerKeys.LETTERS:
        return ApprovalGuard(letters, scopes, at, chords, moves)
    return ApprovalGuard({}, scopes, at, chords)


class GuardedScreen(RequestScreen[ReplyType]):
    """A dialog with a row of answers. Each has a key; Tab moves a mark between them."""

    guard: ApprovalGuard

    @abstractmethod
    def choose(self, choice: Choice) -> None:
        """Act on an answer that the guard accepted."""

    def pick(self, index: int) -> None:
        """Mark one of the numbered rows."""

    def move(self, key: str) -> bool:
        """Handle a key that is no answer. Returns whether it did something other than scroll."""
        return False

    async def handle_input(self, event: events.Key | events.Paste) -> bool:
        if isinstance(event, events.Paste):
            return self._enact(self.guard.paste(event.text))
        return self._enact(self.guard.press(event.key, event.character, event.time))

    def typed(self) -> str:
        return self.guard.release()

    def woken(self) -> None:
        self._enact(self.guard.wake(self._clock()))

    def show_state(self) -> None:
        super().show_state()
        if self.is_mounted and self.is_active:
            self._dialog.row.mark(self.guard.focused)
            if self.guard.is_ready(self._clock()):
                self.call_after_refresh(self.mark_seen)

    def mark_seen(self) -> None:
        was_seen = self._dialog.scrolled.is_end_seen
        super().mark_seen()
        if self._dialog.scrolled.is_end_seen and not was_seen:
            self._dialog.note("")

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
                self.guard.focused = self._dialog.row.next_after(self.guard.focused, by)
            case Demoted():
                self.dock()
            case Passed(key):
                self.show_state()
                return self.move(key) or self._dialog.scrolled.turn(key)
            case Stay():
                pass
        self.show_state()
        return True


def answer_field(id: str, placeholder: str, submit: Callable[[str], None]) -> Prompt:
    return Prompt(PromptHistory(), submit, placeholder=placeholder, id=id)


class EditableRequestScreen(GuardedScreen[Reply]):
    """A request that the user can refuse with a reason or edit."""

    def __init__(
        self, dialog: GuardedDialog, guard: ApprovalGuard, context: DialogContext, edit: Edit, reason: Prompt
    ) -> None:
        super().__init__(dialog, guard, context)
        self._open_editor = edit
        self._reason = reason

    @abstractmethod
    async def edited(self, outcome: Outcome) -> None:
        """Continue with the result of the external editor."""

    def handle_field_key(self, field: Prompt, key: str) -> bool:
        """Handle a key that means something else in a field than in the prompt. Returns whether it did."""
        return False

    async def handle_input(self, event: events.Key | events.Paste) -> bool:
        """Give a key to the field that has the focus, otherwise to the guard."""
        if self._away is not None:
            return True
        field = self.focused
        if not isinstance(field, Prompt):
            return await super().handle_input(event)
        key = event.key if isinstance(event, events.Key) else ""
        if key in LEAVING:
            self.leave_fields()
        elif not self.handle_field_key(field, key):
            await dispatch_key(self, field, event)
        return True

    def typed(self) -> str:
        return super().typed() + self._reason.text

    def explain(self) -> None:
        self._dialog.note("")
        self._dialog.show_reason()
        self.set_focus(self._reason)

    def leave_fields(self) -> None:
        self.set_focus(None)
        self._dialog.note("")
        self._dialog.close_fields()
        self.rearm()

    def edit(self, editable: Editable) -> None:
        self._away = self.run_worker(self._edit_elsewhere(editable), group="edit")

    async def _edit_elsewhere(self, editable: Editable) -> None:
        try:
            outcome = await self._open_editor(editable)
        finally:
            self._away = None
        if self._is_withdrawn:
            self.dock()
            return
        await self.edited(outcome)
        # Keys typed while the editor closed must not answer.
        self.rearm()
