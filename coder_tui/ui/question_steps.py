"""What each key does to a questions form."""

from enum import StrEnum

from coder_tui.ui.question_form import QuestionForm

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
