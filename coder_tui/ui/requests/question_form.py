"""What a person has filled in so far: questions, a page each, and a last page that shows all answers.

What each key does to a questions form.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from coder_tui.protocol.requests import Attendance, Question, QuestionAnswer, QuestionReply


@dataclass(frozen=True, slots=True)
class Draft:
    """`picked` are places among the options; the place behind the last stands for words of one's own."""

    picked: frozenset[int] = frozenset()
    text: str = ""
    note: str = ""
    mark: int = 0
    is_marked: bool = False
    """Whether the mark was put where it is, rather than found there."""

    @property
    def is_touched(self) -> bool:
        return bool(self.picked or self.text.strip() or self.note.strip())


@dataclass(frozen=True, slots=True)
class QuestionForm:
    """Every step gives a new form, so that one which was typing can be taken back."""

    questions: tuple[Question, ...]
    drafts: tuple[Draft, ...]
    page: int = 0
    review_mark: int = 0

    @classmethod
    def begin(cls, questions: tuple[Question, ...]) -> "QuestionForm":
        return cls(questions, tuple(Draft(mark=question.recommended[0]) for question in questions))

    @property
    def is_review(self) -> bool:
        return self.page == len(self.questions)

    @property
    def question(self) -> Question:
        return self.questions[self.page]

    @property
    def draft(self) -> Draft:
        return self.drafts[self.page]

    @property
    def own_words(self) -> int:
        """The place of "something else" on this page."""
        return len(self.question.options)

    @property
    def is_on_own_words(self) -> bool:
        """Whether the mark was put on "something else"."""
        return not self.is_review and self.draft.mark == self.own_words and self.draft.is_marked

    @property
    def open_pages(self) -> tuple[int, ...]:
        return tuple(page for page, answer in enumerate(self.answers()) if not answer.is_given)

    @property
    def is_touched(self) -> bool:
        return any(draft.is_touched for draft in self.drafts)

    def is_given(self, page: int) -> bool:
        return self._answer(page).is_given

    def move(self, by: int) -> "QuestionForm":
        if self.is_review:
            return replace(self, review_mark=_within(self.review_mark + by, len(self.questions)))
        return self._with(
            replace(self.draft, mark=_within(self.draft.mark + by, self.own_words + 1), is_marked=True)
        )

    def turn(self, to: int) -> "QuestionForm":
        """To a page; its mark is found there, not put."""
        page = max(0, min(to, len(self.questions)))
        drafts = tuple(replace(draft, is_marked=False) for draft in self.drafts)
        return replace(self, page=page, drafts=drafts)

    def pick(self, place: int) -> "QuestionForm":
        """Pick an option; where several may be, picking it again takes it back."""
        if place == self.own_words:
            return self._with(replace(self.draft, mark=place, is_marked=True))
        picked = self.draft.picked ^ {place} if self.question.multi else frozenset({place})
        return self._with(replace(self.draft, picked=picked, mark=place, is_marked=False))

    def write(self, text: str) -> "QuestionForm":
        """Words of one's own; where one answer is wanted they take the place of an option."""
        if not text.strip():
            return self._with(replace(self.draft, text=text, picked=self.draft.picked - {self.own_words}))
        kept = self.draft.picked if self.question.multi else frozenset[int]()
        return self._with(replace(self.draft, text=text, picked=kept | {self.own_words}))

    def annotate(self, note: str) -> "QuestionForm":
        return self if note == self.draft.note else self._with(replace(self.draft, note=note))

    def answers(self) -> tuple[QuestionAnswer, ...]:
        return tuple(self._answer(page) for page in range(len(self.questions)))

    def reply(self) -> QuestionReply:
        return QuestionReply(Attendance.ANSWERED, self.answers())

    def _answer(self, page: int) -> QuestionAnswer:
        question, draft = self.questions[page], self.drafts[page]
        labels = tuple(option.label for place, option in enumerate(question.options) if place in draft.picked)
        text = draft.text.strip() if len(question.options) in draft.picked else ""
        return QuestionAnswer(labels, text, draft.note.strip())

    def _with(self, draft: Draft) -> "QuestionForm":
        return replace(self, drafts=(*self.drafts[: self.page], draft, *self.drafts[self.page + 1 :]))


def _within(place: int, count: int) -> int:
    return max(0, min(place, count - 1))


_BACK = frozenset({"up", "k", "left", "h"})


class Then(StrEnum):
    """What the dialog has to do besides showing the form."""

    NOTHING = "nothing"
    TURN = "turn"
    """Another page is open."""
    WRITE = "write"
    """Words of one's own are to be typed."""
    ANNOTATE = "annotate"
    SEND = "send"


Stepped = tuple[QuestionForm, Then]


def step(form: QuestionForm, key: str) -> Stepped:
    by = -1 if key in _BACK else 1
    match key:
        case "up" | "k" | "down" | "j":
            return form.move(by), Then.NOTHING
        case "left" | "h" | "right" | "l":
            return form.turn(form.page + by), Then.TURN
        case "tab" | "shift+tab":
            return form, Then.NOTHING if form.is_review else Then.ANNOTATE
        case "ctrl+y" if not form.is_review:
            return form.turn(len(form.questions)), Then.TURN
        case "enter" | "ctrl+y":
            return _enter(form)
        case "space":
            return pick(form, form.review_mark if form.is_review else form.draft.mark)
        case _:
            return pick(form, int(key) - 1)


def pick(form: QuestionForm, place: int) -> Stepped:
    """An option of this page, or a question to go back to."""
    if form.is_review:
        return (form.turn(place), Then.TURN) if place < len(form.questions) else (form, Then.NOTHING)
    return (form.pick(place) if place <= form.own_words else form), Then.NOTHING


def go_on(form: QuestionForm) -> Stepped:
    """To the next page; a single question that is answered needs no review."""
    if len(form.questions) == 1 and form.is_given(0):
        return form, Then.SEND
    return form.turn(form.page + 1), Then.TURN


def _enter(form: QuestionForm) -> Stepped:
    if form.is_review:
        return form, Then.SEND
    draft = form.draft
    if draft.mark == form.own_words and (draft.is_marked or not form.question.options):
        return form, Then.WRITE
    # The first option is marked from the start: Enter must not take what nobody chose.
    if draft.is_marked and not form.question.multi:
        form = form.pick(draft.mark)
    return go_on(form)
