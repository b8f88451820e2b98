"""What the questions screen shows; it decides nothing."""

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from coder_tui.protocol.requests import QuestionRequest
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.drawing.strips import cut
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.key_names import Hints
from coder_tui.ui.question_form import QuestionForm
from coder_tui.ui.widgets.guarded_dialog import TITLE_MARGIN, GuardedDialog
from coder_tui.ui.widgets.legend import Legend
from coder_tui.ui.widgets.prompt import Prompt
from coder_tui.ui.widgets.question_page import QuestionPage
from coder_tui.ui.widgets.question_tabs import QuestionTabs
from coder_tui.ui.widgets.seen_scroll import SeenScroll

_NEW_LINE, _CANCEL = ("^J", "new line"), ("Esc", "cancel all")
IN_FIELD = (("Enter", "next"), _NEW_LINE, ("Up", "back to the list"), _CANCEL)
IN_NOTE = (("Enter", "back to the list"), _NEW_LINE, _CANCEL)


class PageScroll(SeenScroll):
    """Holds one page."""

    def __init__(self, page: QuestionPage) -> None:
        super().__init__(id="question")
        self.page = page

    def compose(self) -> ComposeResult:
        yield self.page

    def bring(self) -> None:
        """Have the marked item in view."""
        self.scroll_to_region(self.page.marked_region, animate=False, force=True)


class QuestionsDialog(GuardedDialog):
    """Tabs, a page, a field for words of one's own and one for a note, and what keys do."""

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
        self._place = ""
        self._tabs = QuestionTabs(form, chrome)
        self._scroll = PageScroll(QuestionPage(form, chrome))
        self._own, self._remark = own, remark
        self._legend = Legend()

    @property
    def scrolled(self) -> SeenScroll:
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
        self._show_title()
        self.call_after_refresh(self._scroll.bring)

    def show_queue(self, place: str) -> None:
        self._place = place
        self._show_title()

    def show(self, form: QuestionForm) -> None:
        self._form = form
        self._tabs.show(form)
        self._scroll.page.show(form)
        is_typing = self._is_in(self._own)
        is_noting = self._is_in(self._remark)
        self.set_class(not form.is_review and (is_typing or bool(form.draft.text.strip())), "-own")
        self.set_class(not form.is_review and (is_noting or bool(form.draft.note.strip())), "-remark")
        self._legend.show(*(IN_FIELD if is_typing else IN_NOTE if is_noting else legend(form)))
        self._show_title()
        self.call_after_refresh(self._scroll.bring)

    def state_words(self, is_ready: bool) -> str:
        if self._is_in(self._own):
            return "your own words"
        if self._is_in(self._remark):
            return "note"
        return super().state_words(is_ready)

    def _is_in(self, field: Prompt) -> bool:
        # A field learns only later that it has the focus.
        return self.screen.focused is field

    def _show_title(self) -> None:
        form = self._form
        done = len(form.questions) - len(form.open_pages)
        who = f"{safe_line(self._request.agent)}: " if self._request.agent else ""
        words = f"{who}{self._request.title}"
        if len(form.questions) > 1:
            words = f"{words}  {done} of {len(form.questions)} answered"
        words = f"{words}  {self._place}".rstrip()
        width = max(1, self.outer_size.width - TITLE_MARGIN)
        self.border_title = Content(cut(words, width, self._chrome.more))


def legend(form: QuestionForm) -> Hints:
    if form.is_review:
        return ("Enter", "send"), ("1-9", "change one"), ("h", "back"), _CANCEL
    count = min(9, form.own_words + 1)
    verb = "pick several" if form.question.multi else "pick"
    digits = (f"1-{count}", verb) if count > 1 else ("1", "your own words")
    is_only = len(form.questions) == 1
    last: Hints = (("Enter", "send"),) if is_only else (("Enter", "next"), ("h l", "turn"))
    return digits, *last, ("Tab", "note"), _CANCEL
