"""The pure part of questions: what was filled in so far, what each key changes, and which keys count.

A form has a page for each question and a last page that shows all answers. The guard keeps typing from
filling it in: a burst of keys is a sentence, and is returned to the draft.
"""

import math
from dataclasses import dataclass, field, replace
from enum import StrEnum

from coder_tui.protocol.requests import Attendance, Question, QuestionAnswer, QuestionReply
from coder_tui.ui.requests.key_guard import ARM, SOLO, Demoted, Passed, Stay


@dataclass(frozen=True, slots=True)
class Draft:
    """What was filled in on one page. `picked` has indexes of options; one past the last is own text."""

    picked: frozenset[int] = frozenset()
    text: str = ""
    note: str = ""
    mark: int = 0
    is_marked: bool = False
    """Whether the user moved the mark, rather than found it there."""

    @property
    def is_touched(self) -> bool:
        return bool(self.picked or self.text.strip() or self.note.strip())


@dataclass(frozen=True, slots=True)
class QuestionForm:
    """Every step returns a new form, so that a step which was only typing can be undone."""

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
        """The index of "something else" on this page."""
        return len(self.question.options)

    @property
    def is_on_own_words(self) -> bool:
        """Whether the user moved the mark to "something else"."""
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
        """Go to a page. Its mark does not count as moved by the user."""
        page = max(0, min(to, len(self.questions)))
        drafts = tuple(replace(draft, is_marked=False) for draft in self.drafts)
        return replace(self, page=page, drafts=drafts)

    def pick(self, place: int) -> "QuestionForm":
        """Pick an option. If several may be picked, picking one again unpicks it."""
        if place == self.own_words:
            return self._with(replace(self.draft, mark=place, is_marked=True))
        picked = self.draft.picked ^ {place} if self.question.multi else frozenset({place})
        return self._with(replace(self.draft, picked=picked, mark=place, is_marked=False))

    def write(self, text: str) -> "QuestionForm":
        """Set the user's own text. If only one answer is wanted, it replaces the picked option."""
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
    """What the dialog has to do in addition to showing the form."""

    NOTHING = "nothing"
    TURN = "turn"
    """Another page is open."""
    WRITE = "write"
    """Let the user type their own text."""
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
    """Pick an option of this page, or go back to a question from the review."""
    if form.is_review:
        return (form.turn(place), Then.TURN) if place < len(form.questions) else (form, Then.NOTHING)
    return (form.pick(place) if place <= form.own_words else form), Then.NOTHING


def go_on(form: QuestionForm) -> Stepped:
    """Go to the next page. A single question that is answered needs no review."""
    if len(form.questions) == 1 and form.is_given(0):
        return form, Then.SEND
    return form.turn(form.page + 1), Then.TURN


def _enter(form: QuestionForm) -> Stepped:
    if form.is_review:
        return form, Then.SEND
    draft = form.draft
    if draft.mark == form.own_words and (draft.is_marked or not form.question.options):
        return form, Then.WRITE
    # The first option is marked from the start: Enter must not pick what nobody chose.
    if draft.is_marked and not form.question.multi:
        form = form.pick(draft.mark)
    return go_on(form)


@dataclass(frozen=True, slots=True)
class Applied:
    """The key means something in the form."""

    key: str


@dataclass(frozen=True, slots=True)
class Settled:
    """The burst is over and counts."""


@dataclass(frozen=True, slots=True)
class Undone:
    """Undo what the burst did."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    pass


FormVerdict = Stay | Applied | Settled | Undone | Passed | Demoted | Cancelled

LETTERS = frozenset("123456789jkhl ")
_SENDS = frozenset({"enter", "ctrl+y"})
_STEPS = frozenset({"up", "down", "left", "right", "tab", "shift+tab"})


@dataclass(slots=True)
class QuestionGuard:
    """Guards one open form. All times are of one clock; each key has the time at which it was pressed.

    Letters fill in the form at once but can be undone for a while; until then `release` returns them.
    A single letter and Enter is an answer. Enter after several letters ends a sentence.
    """

    opened_at: float
    _armed_at: float = field(init=False)
    _sends_from: float = field(default=-math.inf, init=False)
    _burst: str = field(default="", init=False)
    _kept: str = field(default="", init=False)
    _settles_at: float = field(default=math.inf, init=False)
    _has_enter: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._armed_at = self.opened_at + ARM

    def is_ready(self, at: float) -> bool:
        return self._is_open(at) and at >= self._sends_from

    @property
    def has_burst(self) -> bool:
        return bool(self._burst)

    @property
    def wakes_at(self) -> float:
        return self._settles_at if self._burst else max(self._armed_at, self._sends_from)

    def rearm(self, at: float) -> None:
        """Wait again: the form was just shown, so the next key may be meant for the screen before it."""
        self._armed_at = max(self._armed_at, at + ARM)

    def hold_enter(self, at: float) -> None:
        """Ignore Enter for a moment: another page opened, and Enter may still be held down."""
        self._sends_from = max(self._sends_from, at + ARM)

    def settle(self) -> None:
        """Count what was typed so far: what follows goes to a field."""
        self._burst = ""

    def release(self) -> str:
        """Return the characters that were not meant for the form. Each is returned once."""
        typed, self._kept, self._burst = self._kept + self._burst, "", ""
        return typed

    def press(self, key: str, character: str | None, at: float) -> FormVerdict:
        if key in {"escape", "ctrl+c"}:
            self._burst = ""
            return Cancelled()
        if key == "backspace":
            return self._erase(at)
        if character is not None and character.isprintable():
            return self._type(character, at)
        if not self._is_open(at):
            self.rearm(at)
            return Passed(key)
        if key in _SENDS and at < self._sends_from:
            self.hold_enter(at)
            return Stay()
        if key == "enter":
            return self._enter(at)
        if key in _STEPS or (key == "ctrl+y" and not self._burst):
            return Applied(key)
        return Passed(key)

    def paste(self, text: str) -> FormVerdict:
        self._kept += self._burst + text
        self._burst = ""
        return Demoted()

    def wake(self, at: float, key: str = "") -> FormVerdict:
        """Accept a burst that was followed by a pause, or by a key that nobody presses while writing."""
        if not self._burst or (at < self._settles_at and key not in _STEPS):
            return Stay()
        self._burst = ""
        return Applied("enter") if self._has_enter else Settled()

    def _is_open(self, at: float) -> bool:
        return at >= self._armed_at

    def _type(self, character: str, at: float) -> FormVerdict:
        is_letter = character in LETTERS
        if not self._is_open(at):
            # One early letter leaves the form open; a second key means the user is typing.
            if is_letter and not self._kept and not self._burst:
                self._kept = character
                self.rearm(at)
                return Stay()
            return self._demote(character)
        if not is_letter or (self._burst and self._has_enter):
            return self._demote(character)
        self._burst += character
        self._has_enter = False
        self._settles_at = at + SOLO
        return Applied("space" if character == " " else character)

    def _enter(self, at: float) -> FormVerdict:
        if not self._burst:
            return Applied("enter")
        if len(self._burst) == 1:
            self._has_enter = True
        self._settles_at = at + SOLO
        return Stay()

    def _erase(self, at: float) -> FormVerdict:
        if self._burst:
            self._burst = ""
            return Undone()
        self._kept = self._kept[:-1]
        self.rearm(at)
        return Stay()

    def _demote(self, character: str) -> FormVerdict:
        self._kept += self._burst + character
        self._burst = ""
        return Demoted()
