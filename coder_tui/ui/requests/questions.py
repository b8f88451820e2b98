"""The dialog for questions: a page for each and one for review. Nothing typed by accident is sent."""

from typing import assert_never

from textual import events, on

from coder_tui.protocol.requests import Attendance, QuestionReply, QuestionRequest, Reply
from coder_tui.ui.keymap import dispatch_key
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.prompt.prompt import Prompt
from coder_tui.ui.requests.guarded_screen import LEAVING, DialogContext, RequestScreen, answer_field
from coder_tui.ui.requests.key_guard import Demoted, Passed, Stay
from coder_tui.ui.requests.question_form import (
    Applied,
    Cancelled,
    FormVerdict,
    QuestionForm,
    QuestionGuard,
    Settled,
    Stepped,
    Then,
    Undone,
    go_on,
    pick,
    step,
)
from coder_tui.ui.requests.questions_dialog import QuestionPage, QuestionsDialog

_CHOOSING = frozenset({"space", *"123456789"})
CONFIRM = "Press Enter again to send anyway."


class QuestionsScreen(RequestScreen[Reply]):
    """Asks questions. `form` outlives the dialog, so reopening it shows what was filled in."""

    BINDINGS = bindings(Context.QUESTIONS)
    help_context = Context.QUESTIONS
    _dialog: QuestionsDialog
    guard: QuestionGuard

    def __init__(self, request: QuestionRequest, form: QuestionForm, context: DialogContext) -> None:
        self.request = request
        self.form = form
        self._before = form
        """The form before the last keys, in case they turn out to be typing."""
        self._own = answer_field("own", "Your answer", self._written)
        self._remark = answer_field("remark", "Note to send with the answer", self._written)
        self._is_confirmed = False
        dialog = QuestionsDialog(request, form, context.chrome, self._own, self._remark)
        super().__init__(dialog, QuestionGuard(context.clock()), context)

    def on_mount(self) -> None:
        self._load_fields()

    async def handle_input(self, event: events.Key | events.Paste) -> bool:
        field = self.focused
        is_cancel = isinstance(event, events.Key) and event.key in LEAVING
        if isinstance(field, Prompt) and not is_cancel:
            await self._handle_field_key(field, event)
            return True
        if not self._catch_up(event):
            return False
        if isinstance(event, events.Paste):
            return self._enact(self.guard.paste(event.text))
        return self._enact(self.guard.press(event.key, event.character, event.time))

    def woken(self) -> None:
        self._enact(self.guard.wake(self._clock()))

    def _catch_up(self, event: events.Key | events.Paste) -> bool:
        """Do what is due before this key. Returns whether the dialog is still open."""
        if self.guard.has_burst:
            key = event.key if isinstance(event, events.Key) else ""
            self._enact(self.guard.wake(event.time, key))
        return self.is_active

    def show_step(self) -> None:
        self._dialog.show(self.form)

    def typed(self) -> str:
        return self.guard.release()

    def dock(self) -> None:
        self._leave_fields()
        self.form = self._before
        super().dock()

    def mark_seen(self) -> None:
        """Show the page again. Unlike an approval, it need not be seen in full before it is answered."""
        self.show_state()

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
                    # What comes next is for the field, however soon it comes.
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
                self.close(QuestionReply(Attendance.CANCELLED))
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
            # A key that is still held down must not send answers that were not reviewed.
            self.guard.hold_enter(self._clock())

    def _send(self) -> None:
        missing = len(self.form.open_pages)
        if missing and not self._is_confirmed:
            self._is_confirmed = True
            self.guard.hold_enter(self._clock())
            what = "One question is" if missing == 1 else f"{missing} questions are"
            self._dialog.note(f"{what} not answered. {CONFIRM}")
        else:
            self.close(self.form.reply())

    def _settle(self) -> None:
        """Make the last steps final. If the mark is on "something else", focus its field."""
        self._before = self.form
        if self.form.is_on_own_words and self.focused is None:
            self.set_focus(self._own)

    async def _handle_field_key(self, field: Prompt, event: events.Key | events.Paste) -> None:
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
            await dispatch_key(self, field, event)
        self._before = self.form
        self.show_state()

    def _written(self, text: str) -> None:
        """Handle Enter in a field, which has cleared itself: leave a note, otherwise go to the next page."""
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
        super().action_list()
