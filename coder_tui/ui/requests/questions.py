"""The dialog for questions: a page each and one for review; nothing is sent that was typed by accident."""

from collections.abc import Callable
from typing import assert_never

from textual import events, on
from textual.app import ComposeResult

from coder_tui.protocol.requests import Attendance, QuestionReply, QuestionRequest
from coder_tui.ui.chrome.banners import Waiting
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keymap import deliver
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.prompt.prompt import Prompt, PromptHistory, keep_in_memory
from coder_tui.ui.requests.dialog_frame import Closed
from coder_tui.ui.requests.guarded_screen import ArmedScreen
from coder_tui.ui.requests.key_guard import Demoted, Passed, Stay
from coder_tui.ui.requests.question_form import QuestionForm, Stepped, Then, go_on, pick, step
from coder_tui.ui.requests.question_guard import (
    Applied,
    Cancelled,
    FormVerdict,
    QuestionGuard,
    Settled,
    Undone,
)
from coder_tui.ui.requests.questions_dialog import QuestionPage, QuestionsDialog
from coder_tui.ui.requests.seen_scroll import SeenScroll

_CHOOSING = frozenset({"space", *"123456789"})
CONFIRM = "Enter again sends what there is; the rest stays open."


class QuestionsScreen(ArmedScreen[Closed]):
    """`form` outlives the dialog: whoever comes back finds what was filled in."""

    BINDINGS = bindings(Context.QUESTIONS)
    help_context = Context.QUESTIONS

    def __init__(
        self,
        request: QuestionRequest,
        form: QuestionForm,
        chrome: Chrome,
        spill: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        """`spill` takes typed characters to the draft."""
        self.request = request
        self.form = form
        self._before = form
        """The form without what may still turn out to be typing."""
        self._own = _field("own", "Your answer", self._written)
        self._remark = _field("remark", "A note that goes with the answer", self._written)
        self._dialog = QuestionsDialog(request, form, chrome, self._own, self._remark)
        self._spill = spill
        self.guard = QuestionGuard(clock())
        self._is_confirmed = False
        self._is_withdrawn = False
        super().__init__(self._dialog, self.guard, clock)

    def compose(self) -> ComposeResult:
        yield self._dialog

    def on_mount(self) -> None:
        self._load_fields()

    async def take(self, event: events.Key | events.Paste) -> bool:
        field = self.focused
        if isinstance(field, Prompt) and not _is_cancel(event):
            await self._take_in_field(field, event)
            return True
        if not self._catch_up(event):
            return False
        if isinstance(event, events.Paste):
            return self._enact(self.guard.paste(event.text))
        return self._enact(self.guard.press(event.key, event.character, event.time))

    def woken(self) -> None:
        self._enact(self.guard.wake(self._clock()))

    def _catch_up(self, event: events.Key | events.Paste) -> bool:
        """Do what is due before this key; whether the dialog is still there for it."""
        if self.guard.has_burst:
            key = event.key if isinstance(event, events.Key) else ""
            self._enact(self.guard.wake(event.time, key))
        return self.is_active

    def show_step(self) -> None:
        self._dialog.show(self.form)

    def show_queue(self, place: str, others: Waiting) -> None:
        self._dialog.show_queue(place)

    def withdraw(self) -> None:
        """The questions are void; close as soon as this is the top screen."""
        self._is_withdrawn = True
        if self.is_active:
            self.dock()

    async def stop_editing(self) -> None:
        """No editor is ever open here."""

    def dock(self) -> None:
        self._leave_fields()
        self.form = self._before
        self._close(None)

    @on(events.ScreenResume)
    def _withdraw_late(self) -> None:
        if self._is_withdrawn:
            self.dock()

    @on(SeenScroll.Moved)
    def _moved(self) -> None:
        self.call_after_refresh(self.show_state)

    @on(QuestionPage.Clicked)
    def _clicked(self, event: QuestionPage.Clicked) -> None:
        if self.guard.is_ready(event.at) and not self.guard.has_burst:
            self._leave_fields()
            self._follow(pick(self.form, event.place))
            self._settle()

    def _enact(self, verdict: FormVerdict) -> bool:
        match verdict:
            case Applied(key):
                self._dialog.note("")
                self._follow(step(self.form, key))
                if key in _CHOOSING and self.form.is_on_own_words:
                    # What comes next is typed for the field, however soon.
                    self.guard.settle()
                if not self.guard.has_burst:
                    self._settle()
            case Undone():
                self.form = self._before
            case Settled():
                self._settle()
            case Demoted():
                self.dock()
            case Cancelled():
                self._leave_fields()
                self._close(QuestionReply(Attendance.CANCELLED))
            case Passed(key):
                self.show_state()
                return self._dialog.scrolled.turn(key)
            case Stay():
                pass
            case _:
                assert_never(verdict)
        self.show_state()
        return True

    def _follow(self, stepped: Stepped) -> None:
        self.form, then = stepped
        match then:
            case Then.NOTHING:
                pass
            case Then.TURN:
                self._turned()
            case Then.WRITE:
                self.set_focus(self._own)
            case Then.ANNOTATE:
                self.set_focus(self._remark)
            case Then.SEND:
                self._send()
            case _:
                assert_never(then)

    def _turned(self) -> None:
        self._is_confirmed = False
        self._load_fields()
        if self.form.is_review:
            # A key that is still held down must not send what nobody has looked over.
            self.guard.hold_enter(self._clock())

    def _send(self) -> None:
        missing = len(self.form.open_pages)
        if missing and not self._is_confirmed:
            self._is_confirmed = True
            self.guard.hold_enter(self._clock())
            what = "One question is" if missing == 1 else f"{missing} questions are"
            self._dialog.note(f"{what} not answered. {CONFIRM}")
        else:
            self._close(self.form.reply())

    def _settle(self) -> None:
        """What was done was meant: whoever went to "something else" goes on in its field."""
        self._before = self.form
        if self.form.is_on_own_words and self.focused is None:
            self.set_focus(self._own)

    async def _take_in_field(self, field: Prompt, event: events.Key | events.Paste) -> None:
        key = event.key if isinstance(event, events.Key) else ""
        if key == "enter" and not field.text.strip():
            self._written(field.text)
        elif key == "ctrl+y":
            self._leave_fields()
            self._follow(step(self.form, key))
        elif key in {"tab", "shift+tab"}:
            self._leave_fields()
            self.set_focus(self._remark if field is self._own else None)
        elif key == "up" and field.navigator.is_first_wrapped_line(field.cursor_location):
            self._leave_fields()
            self.form = self.form.move(-1) if field is self._own else self.form
        else:
            await deliver(self, field, event)
        self._before = self.form
        self.show_state()

    def _written(self, text: str) -> None:
        """Enter in a field, which has emptied itself: from a note back to the list, else on."""
        is_note = self.focused is self._remark
        (self._remark if is_note else self._own).show_draft(text)
        self._leave_fields()
        if not is_note:
            self._follow(go_on(self.form))
        self.guard.hold_enter(self._clock())

    def _leave_fields(self) -> None:
        if self.focused is self._own:
            self.form = self.form.write(self._own.text)
        elif self.focused is self._remark:
            self.form = self.form.annotate(self._remark.text)
        else:
            return
        self._before = self.form
        self.set_focus(None)

    def _load_fields(self) -> None:
        if not self.form.is_review:
            self._own.show_draft(self.form.draft.text)
            self._remark.show_draft(self.form.draft.note)

    def action_list(self) -> None:
        self._leave_fields()
        self._close(None, wants_list=True)

    def _close(self, reply: QuestionReply | None, *, wants_list: bool = False) -> None:
        # First the characters, then the pop: the next key already goes to the prompt.
        if typed := self.guard.release():
            self._spill(typed)
        self.dismiss(Closed(reply, wants_list))


def _is_cancel(event: events.Key | events.Paste) -> bool:
    return isinstance(event, events.Key) and event.key in {"escape", "ctrl+c"}


def _field(id: str, placeholder: str, submit: Callable[[str], None]) -> Prompt:
    return Prompt(PromptHistory((), keep_in_memory), submit, placeholder=placeholder, id=id)
