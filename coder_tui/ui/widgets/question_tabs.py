"""A line of tabs: a sign and a word for each question, and the page of all answers."""

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from coder_tui.text.safe_text import safe_line
from coder_tui.ui.drawing.strips import cut
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.question_form import QuestionForm

_WIDEST = 16
_NARROWEST = 4
_LONGEST = 200
"""Characters of which a tab shows the first."""
_GAP = "   "


class QuestionTabs(Widget):
    """Where not all fit, words give way first, then tabs that are far from the one that is open."""

    DEFAULT_CSS = """
    QuestionTabs {
        height: 2; padding: 0 1; border-bottom: solid $border-blurred; text-wrap: nowrap; text-overflow: clip;
    }
    """

    def __init__(self, form: QuestionForm, chrome: Chrome) -> None:
        super().__init__(id="tabs")
        self._chrome = chrome
        self._form = form

    def show(self, form: QuestionForm) -> None:
        if form != self._form:
            self._form = form
            self.refresh()

    def render(self) -> Content:
        labels = tab_labels(self._form, self._chrome, self.content_size.width)
        parts = [
            Content.styled(label, "bold $text-primary" if page == self._form.page else "$text-muted")
            for page, label in labels
        ]
        return Content(_GAP).join(parts)


def tab_labels(form: QuestionForm, chrome: Chrome, width: int) -> list[tuple[int, str]]:
    """Page and words of each tab that is shown."""
    for widest in range(_WIDEST, _NARROWEST - 1, -1):
        labels = [(page, _label(form, page, widest, chrome)) for page in range(len(form.questions) + 1)]
        if _cells(labels) <= width:
            return labels
    while len(labels) > 1 and _cells(labels) > width:
        is_left_further = form.page - labels[0][0] > labels[-1][0] - form.page
        labels = labels[1:] if is_left_further else labels[:-1]
    return labels


def _label(form: QuestionForm, page: int, widest: int, chrome: Chrome) -> str:
    if page == len(form.questions):
        return f"{chrome.folded} Review"
    question = form.questions[page]
    sign = chrome.ready if page == form.page else chrome.ok if form.is_given(page) else chrome.hold
    return f"{sign} {cut(safe_line((question.header or question.question)[:_LONGEST]), widest, chrome.more)}"


def _cells(labels: list[tuple[int, str]]) -> int:
    return sum(cell_len(label) for _, label in labels) + len(_GAP) * (len(labels) - 1)
