"""What the questions screen shows: tabs, a page of options or the review, and fields. It decides nothing."""

from dataclasses import dataclass

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from coder_tui.protocol.requests import QuestionAnswer, QuestionRequest
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.strips import TAB, broken, cut, filled, plain_strip
from coder_tui.ui.draw.widget import DrawnAtOnce
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keymap import Hints
from coder_tui.ui.prompt.prompt import Prompt
from coder_tui.ui.requests.dialog_frame import GuardedDialog, Legend, MustReadScroll
from coder_tui.ui.requests.question_form import QuestionForm

OWN_WORDS = "something else"
OPEN = "not answered"
LONGEST = 4000
"""Most characters of a text that are drawn."""
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class _Item:
    """A row that can be marked, with its explanation below."""

    lead: str
    text: str
    below: tuple[str, ...] = ()
    is_marked: bool = False
    is_good: bool = False
    is_warning: bool = False


class QuestionPage(DrawnAtOnce):
    """Draws one page of the form. Text wraps and is not cut off."""

    @dataclass
    class Clicked(Message):
        place: int
        at: float

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
        """The rows of the marked item. For the first item, the question is included."""
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


_WIDEST = 16
_NARROWEST = 4
_LONGEST = 200
"""Most characters of a header that a tab considers."""
_GAP = "   "


class QuestionTabs(Widget):
    """Tabs of all pages. If they do not fit, labels get shorter first, then distant tabs are dropped."""

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
    """Return the page and label of each tab that is shown."""
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


_NEW_LINE, _CANCEL = ("^J", "new line"), ("Esc", "cancel all")
IN_FIELD = (("Enter", "next"), _NEW_LINE, ("Up", "back to the list"), _CANCEL)
IN_NOTE = (("Enter", "back to the list"), _NEW_LINE, _CANCEL)


class PageScroll(MustReadScroll):
    """Scrolls one page."""

    def __init__(self, page: QuestionPage) -> None:
        super().__init__(page, id="question")
        self.page = page

    def bring(self) -> None:
        """Scroll the marked item into view."""
        self.scroll_to_region(self.page.marked_region, animate=False, force=True)


class QuestionsDialog(GuardedDialog):
    """Shows tabs, a page, a field for the user's own text, one for a note, and the keys."""

    DEFAULT_CSS = """
    QuestionsDialog {
        max-width: 100;
        #own, #remark { display: none; max-height: 4; margin: 0 1; padding: 0 1; background: $panel; }
        #own-head, #remark-head { display: none; height: 1; padding: 0 1; color: $text-muted; }
        #legend { border-top: solid $border-blurred; }
        &.-own { #own, #own-head { display: block; } }
        &.-remark { #remark, #remark-head { display: block; } }
    }
    """

    def __init__(
        self, request: QuestionRequest, form: QuestionForm, chrome: Chrome, own: Prompt, remark: Prompt
    ) -> None:
        super().__init__(chrome, ())
        self._request = request
        self._form = form
        self._tabs = QuestionTabs(form, chrome)
        self._scroll = PageScroll(QuestionPage(form, chrome))
        self._own, self._remark = own, remark
        self._legend = Legend()

    @property
    def scrolled(self) -> MustReadScroll:
        return self._scroll

    def compose(self) -> ComposeResult:
        yield self._tabs
        yield self._scroll
        yield Static("in your own words", id="own-head", markup=False)
        yield self._own
        yield Static("note", id="remark-head", markup=False)
        yield self._remark
        yield self._note
        yield self._legend

    def on_resize(self) -> None:
        self.call_after_refresh(self._scroll.bring)

    def show(self, form: QuestionForm) -> None:
        self._form = form
        self._tabs.show(form)
        self._scroll.page.show(form)
        is_typing = self._is_in(self._own)
        is_noting = self._is_in(self._remark)
        self.set_class(not form.is_review and (is_typing or bool(form.draft.text.strip())), "-own")
        self.set_class(not form.is_review and (is_noting or bool(form.draft.note.strip())), "-remark")
        self._legend.show(*(IN_FIELD if is_typing else IN_NOTE if is_noting else legend(form)))
        self.show_heading()
        self.call_after_refresh(self._scroll.bring)

    def describe_state(self, is_ready: bool) -> str:
        if self._is_in(self._own):
            return "your own words"
        if self._is_in(self._remark):
            return "note"
        return super().describe_state(is_ready)

    def _is_in(self, field: Prompt) -> bool:
        # A field learns only later that it has the focus.
        return self.screen.focused is field

    def heading(self, width: int) -> str:
        form = self._form
        done = len(form.questions) - len(form.open_pages)
        who = f"{safe_line(self._request.agent)}: " if self._request.agent else ""
        words = f"{who}{self._request.title}"
        if len(form.questions) > 1:
            words = f"{words}  {done} of {len(form.questions)} answered"
        return cut(f"{words}  {self._place}".rstrip(), width, self._chrome.more)


def legend(form: QuestionForm) -> Hints:
    if form.is_review:
        return ("Enter", "send"), (f"1-{min(9, len(form.questions))}", "change one"), ("h", "back"), _CANCEL
    count = min(9, form.own_words + 1)
    verb = "pick several" if form.question.multi else "pick"
    digits = (f"1-{count}", verb) if count > 1 else ("1", "your own words")
    is_only = len(form.questions) == 1
    last: Hints = (("Enter", "send"),) if is_only else (("Enter", "next"), ("h", "back"))
    return digits, *last, ("Tab", "note"), _CANCEL
