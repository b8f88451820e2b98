"""Questions that were cancelled: what was answered stays here, and can still be sent as a message."""

from dataclasses import dataclass

from coder_tui.protocol.requests import Question, QuestionAnswer, QuestionRequest
from coder_tui.ui.question_form import QuestionForm


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
