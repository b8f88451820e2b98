"""Which dialog shows which request, and what is kept of it; loaded with the first of them.

Questions that were cancelled: what was answered stays here, and can still be sent as a message.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import assert_never

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
from coder_tui.ui.external_editor import ExternalEditor, Terminal
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.launch import Launch
from coder_tui.ui.requests.approval import ApprovalScreen
from coder_tui.ui.requests.pending import WaitingScreen
from coder_tui.ui.requests.plan import PlanScreen
from coder_tui.ui.requests.presenter import ProposalChecks
from coder_tui.ui.requests.question_form import QuestionForm
from coder_tui.ui.requests.questions import QuestionsScreen


@dataclass(frozen=True, slots=True)
class CancelledQuestions:
    """The model knows of none of the answers."""

    request: QuestionRequest
    form: QuestionForm

    @property
    def message(self) -> str:
        """The answers in words, for a model that was told that there are none."""
        pairs = zip(self.form.questions, self.form.answers(), strict=True)
        return "\n\n".join(_words(question, answer) for question, answer in pairs if answer.is_given)


def _words(question: Question, answer: QuestionAnswer) -> str:
    said = ", ".join([*answer.picked, *([answer.text] if answer.text else [])])
    note = f"\n(note: {answer.note})" if answer.note else ""
    return f"{question.question}\n{said}{note}"


Dialog = ApprovalScreen | QuestionsScreen | PlanScreen


class RequestDialogs:
    """`spill` takes typed characters to the draft. What was filled in comes back with its questions."""

    def __init__(
        self,
        chrome: Chrome,
        spill: Callable[[str], None],
        clock: Callable[[], float],
        launch: Launch,
        terminal: Terminal,
        checks: ProposalChecks,
    ) -> None:
        self._chrome = chrome
        self._spill = spill
        self._clock = clock
        editor = ExternalEditor(os.environ, launch.edits, launch.directory)
        self._edit = partial(editor.edit, terminal)
        self._keys = launch.answer_keys
        self._forms: dict[str, QuestionForm] = {}
        self.cancelled: CancelledQuestions | None = None
        self._checks = checks

    def make(self, request: Request) -> Dialog:
        match request:
            case ApprovalRequest():
                return self._approval(request)
            case PlanRequest():
                return PlanScreen(request, self._chrome, self._spill, self._clock, self._edit, self._keys)
            case QuestionRequest(questions=questions):
                form = self._forms.get(request.id) or QuestionForm.begin(questions)
                return QuestionsScreen(request, form, self._chrome, self._spill, self._clock)
            case _:
                assert_never(request)

    def _approval(self, request: ApprovalRequest) -> ApprovalScreen:
        screen = ApprovalScreen(request, self._chrome, self._spill, self._clock, self._edit, self._keys)
        self._checks.follow(request.call_id, screen.show_check)
        return screen

    def list(self, requests: tuple[Request, ...]) -> WaitingScreen:
        return WaitingScreen(requests, self._chrome, self._spill, self._clock)

    def withdrawn(self, request: Request) -> None:
        """Nobody waits for it any more; what was filled in stays, as after Esc."""
        form = self._forms.get(request.id)
        if isinstance(request, QuestionRequest) and form is not None and form.is_touched:
            self.cancelled = CancelledQuestions(request, form)

    def closed(self, dialog: Dialog, reply: Reply | None, *, is_open: bool) -> str:
        """Keep what has to be kept; gives a message where cancelled questions were answered after all."""
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
