"""The pages of a questions form, drawn: options with the mark among them, and all answers for review."""

from dataclasses import dataclass

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from coder_tui.protocol.requests import QuestionAnswer
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.ui.drawing.palette import Palette
from coder_tui.ui.drawing.strips import TAB, broken, filled, plain_strip
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.question_form import QuestionForm
from coder_tui.ui.widgets.drawn_whole import DrawnWhole

OWN_WORDS = "something else"
OPEN = "not answered"
LONGEST = 4000
"""Characters of a text that are drawn: more is no question."""
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class _Item:
    """A line that can be marked, with what explains it below."""

    lead: str
    text: str
    below: tuple[str, ...] = ()
    is_marked: bool = False
    is_good: bool = False
    is_warning: bool = False


class QuestionPage(DrawnWhole):
    """Everything is wrapped and nothing cut."""

    class Clicked(Message):
        def __init__(self, place: int, at: float) -> None:
            super().__init__()
            self.place = place
            self.at = at

    def __init__(self, form: QuestionForm, chrome: Chrome) -> None:
        super().__init__(glyphs=chrome, id="page")
        self._chrome = chrome
        self._form = form
        self._starts: list[tuple[int, int]] = []

    def show(self, form: QuestionForm) -> None:
        if form != self._form:
            self._form = form
            self.forget()

    @property
    def marked_region(self) -> Region:
        """Where the marked item stands; the first one brings the question along."""
        form = self._form
        mark = form.review_mark if form.is_review else form.draft.mark
        if not 0 <= mark < len(self._starts):
            return Region()
        first, height = self._starts[mark]
        return Region(0, 0, 1, first + height) if mark == 0 else Region(0, first, 1, height)

    def draw(self, width: int, palette: Palette) -> list[Strip]:
        head, items = self._review() if self._form.is_review else self._options()
        strips = [plain_strip(piece, width, palette.strong) for piece in _pieces(head, width)]
        strips.append(plain_strip("", width, palette.base))
        self._starts = []
        for item in items:
            rows = _draw(item, width, palette, self._chrome)
            self._starts.append((len(strips), len(rows)))
            strips += rows
        return strips

    def on_click(self, event: events.Click) -> None:
        event.stop()
        for place, (first, height) in enumerate(self._starts):
            if first <= event.y < first + height:
                self.post_message(self.Clicked(place, event.time))

    def _options(self) -> tuple[str, list[_Item]]:
        question, draft = self._form.question, self._form.draft
        items = []
        for place, option in enumerate(question.options):
            label = f"{safe_line(self._cut(option.label))}{question.mark_of(place)}"
            below = (safe_text(self._cut(option.description)),) if option.description else ()
            items.append(self._item(place, label, below))
        place = len(question.options)
        ending = "" if draft.text.strip() else f": {'_' * 20}"
        items.append(self._item(place, f"{OWN_WORDS}{ending}", ()))
        return safe_text(self._cut(question.question)), items

    def _cut(self, text: str) -> str:
        if len(text) <= LONGEST:
            return text
        return f"{text[:LONGEST]}{self._chrome.more} {len(text) - LONGEST} more characters"

    def _item(self, place: int, text: str, below: tuple[str, ...]) -> _Item:
        draft = self._form.draft
        is_picked = place in draft.picked
        if self._form.question.multi:
            box = "[x]" if is_picked else "[ ]"
        else:
            box = f"({self._chrome.ready})" if is_picked else "( )"
        number = f"{place + 1}" if place < _DIGITS else " "
        return _Item(f"{number} {box} ", text, below, place == draft.mark, is_picked)

    def _review(self) -> tuple[str, list[_Item]]:
        form = self._form
        items = []
        for page, (question, answer) in enumerate(zip(form.questions, form.answers(), strict=True)):
            number = f"{page + 1}" if page < _DIGITS else " "
            items.append(
                _Item(
                    f"{number} ",
                    safe_line(self._cut(question.header or question.question)),
                    answer_lines(answer, self._chrome),
                    page == form.review_mark,
                    is_warning=not answer.is_given,
                )
            )
        missing = len(form.open_pages)
        head = "Your answers" if not missing else f"Your answers {self._chrome.dash} {missing} {OPEN}"
        return head, items


def answer_lines(answer: QuestionAnswer, chrome: Chrome) -> tuple[str, ...]:
    lines = [f"{chrome.ok} {safe_line(label[:LONGEST])}" for label in answer.picked]
    if answer.text:
        lines.append(f"{chrome.ok} {safe_text(answer.text)}")
    if not lines:
        lines.append(OPEN)
    if answer.note:
        lines.append(f"note: {safe_text(answer.note)}")
    return tuple(lines)


def _pieces(text: str, width: int) -> list[str]:
    return [piece for line in text.split("\n") for piece in broken(line.expandtabs(TAB), width)]


def _draw(item: _Item, width: int, palette: Palette, chrome: Chrome) -> list[Strip]:
    glow = palette.cursor if item.is_marked else Style.null()
    ink = palette.strong if item.is_good or item.is_marked else palette.base
    sign = f"{chrome.prompt if item.is_marked else ' '} "
    indent = cell_len(sign + item.lead)
    room = max(1, width - indent)
    rows: list[list[Segment]] = [[Segment(piece, ink + glow)] for piece in _pieces(item.text, room)]
    below_ink = palette.warning if item.is_warning else palette.dim
    rows += [[Segment(piece, below_ink + glow)] for text in item.below for piece in _pieces(text, room)]
    lead = [Segment(sign, palette.user + glow), Segment(item.lead, ink + glow)]
    blank = [Segment(" " * indent, palette.base + glow)]
    return [
        filled([*(blank if index else lead), *row], width, palette.base + glow)
        for index, row in enumerate(rows)
    ]
