"""Builds the dialog for a request. Loaded when the first request opens.

Keeps answers to questions that were cancelled, so that they can still be sent as a message.
"""

import os
from dataclasses import dataclass
from functools import partial
from typing import Any, assert_never

from textual.app import App

from coder_tui.protocol.requests import (
    ApprovalRequest,
    Attendance,
    PlanRequest,
    Question,
    QuestionAnswer,
    QuestionReply,
    QuestionRequest,
    Reply,
    Request,
)
from coder_tui.ui.external_editor import ExternalEditor
from coder_tui.ui.launch import Launch
from coder_tui.ui.requests.approval import ApprovalScreen
from coder_tui.ui.requests.guarded_screen import DialogContext
from coder_tui.ui.requests.pending import PendingScreen
from coder_tui.ui.requests.plan import PlanScreen
from coder_tui.ui.requests.presenter import ProposalChecks
from coder_tui.ui.requests.question_form import QuestionForm
from coder_tui.ui.requests.questions import QuestionsScreen


@dataclass(frozen=True, slots=True)
class CancelledQuestions:
    """Questions that were cancelled. The model has none of these answers."""

    request: QuestionRequest
    form: QuestionForm

    @property
    def message(self) -> str:
        """The answers as a message, because the model received none."""
        pairs = zip(self.form.questions, self.form.answers(), strict=True)
        return "\n\n".join(_format_answer(question, answer) for question, answer in pairs if answer.is_given)


def _format_answer(question: Question, answer: QuestionAnswer) -> str:
    said = ", ".join([*answer.picked, *([answer.text] if answer.text else [])])
    note = f"\n(note: {answer.note})" if answer.note else ""
    return f"{question.question}\n{said}{note}"


Dialog = ApprovalScreen | QuestionsScreen | PlanScreen


class RequestDialogs:
    """Builds dialogs. Reopened questions keep their answers."""

    def __init__(self, context: DialogContext, launch: Launch, app: App[Any], checks: ProposalChecks) -> None:
        self._context = context
        editor = ExternalEditor(os.environ, launch.edits, launch.directory)
        self._edit = partial(editor.edit, app)
        self._forms: dict[str, QuestionForm] = {}
        self.cancelled: CancelledQuestions | None = None
        self._checks = checks

    def make(self, request: Request) -> Dialog:
        match request:
            case ApprovalRequest():
                screen = ApprovalScreen(request, self._context, self._edit)
                self._checks.follow(request.call_id, screen.show_check)
                return screen
            case PlanRequest():
                return PlanScreen(request, self._context, self._edit)
            case QuestionRequest(questions=questions):
                form = self._forms.get(request.id) or QuestionForm.begin(questions)
                return QuestionsScreen(request, form, self._context)
            case _:
                assert_never(request)

    def list(self, requests: tuple[Request, ...]) -> PendingScreen:
        return PendingScreen(requests, self._context)

    def withdrawn(self, request: Request) -> None:
        """Keep what was filled in, as after Esc: nobody waits for this request any more."""
        form = self._forms.get(request.id)
        if isinstance(request, QuestionRequest) and form is not None and form.is_touched:
            self.cancelled = CancelledQuestions(request, form)

    def closed(self, dialog: Dialog, reply: Reply | None, *, is_open: bool) -> str:
        """Record how a dialog closed. Returns a message if cancelled questions were answered after all."""
        if not isinstance(dialog, QuestionsScreen):
            return ""
        request, form = dialog.request, dialog.form
        was_cancelled = self.cancelled is not None and self.cancelled.request.id == request.id
        is_answered = isinstance(reply, QuestionReply) and reply.attendance is Attendance.ANSWERED
        self._forms[request.id] = form
        if is_answered:
            del self._forms[request.id]
            self.cancelled = None if was_cancelled else self.cancelled
            return CancelledQuestions(request, form).message if was_cancelled else ""
        if reply is not None or not is_open:
            self.withdrawn(request)
        return ""
