"""What the approval dialog shows; it decides nothing."""

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.layout import Layout
from textual.widgets import Static

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.requests import ApprovalRequest
from coder_tui.ui.approval_guard import Choice
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.widgets.choices import Answer, AnswerRow
from coder_tui.ui.widgets.preview import Preview
from coder_tui.ui.widgets.prompt import Prompt
from coder_tui.ui.widgets.request_words import facts, title
from coder_tui.ui.widgets.scopes import Scopes
from coder_tui.ui.widgets.seen_scroll import SeenScroll
from coder_tui.ui.widgets.stack import Stack

_ALLOWING = frozenset({Choice.ALLOW, Choice.ALWAYS})
_TITLE_MARGIN = 6
"""Columns of the frame that the title does not have."""


def answers(request: ApprovalRequest) -> tuple[Answer, ...]:
    key = "^Y y" if request.is_undoable else "^Y"
    verb = "run once" if request.kind is ToolKind.EXECUTE else "allow once"
    always = (Answer(Choice.ALWAYS, "a", "always"),) if request.grants else ()
    return (
        Answer(Choice.ALLOW, key, verb),
        *always,
        Answer(Choice.DENY, "n", "deny"),
        Answer(Choice.EXPLAIN, "d", "deny, say why"),
        Answer(Choice.CANCEL, "Esc", "stop the turn"),
    )


class ApprovalDialog(Vertical):
    """Title, preview, facts and answers of one request."""

    DEFAULT_CSS = """
    ApprovalDialog {
        width: 92%; max-width: 130; height: auto; max-height: 100%;
        background: $surface; border: round $warning; border-title-color: $text-warning;
        border-title-style: bold; border-subtitle-color: $text-muted;
        &.-ready { border: round $primary; border-subtitle-color: $text-primary; }
        #facts {
            height: auto; max-height: 7; padding: 0 1; color: $text-muted; border-top: solid $border-blurred;
        }
        #reason { display: none; max-height: 4; padding: 0 1; background: $panel; }
        #legend { height: auto; padding: 0 1; display: none; }
        #note { height: auto; padding: 0 1; color: $text-warning; display: none; }
        &.-explaining {
            #reason, #legend { display: block; }
            AnswerRow { display: none; }
        }
        &.-scoping {
            Scopes, #legend { display: block; }
            Preview, #facts, AnswerRow { display: none; }
        }
    }
    """

    def __init__(self, request: ApprovalRequest, chrome: Chrome, reason: Prompt) -> None:
        super().__init__(id="dialog")
        self._stack = Stack()
        self._request = request
        self._chrome = chrome
        self._place = ""
        words = facts(request, chrome)
        self._preview = Preview(request.preview, words, chrome)
        self._scopes = Scopes(request.grants, chrome)
        self._facts = Static(words, id="facts", markup=False)
        self._reason = reason
        self._legend = Static(id="legend", markup=False)
        self._note = Static(id="note", markup=False)
        self.row = AnswerRow(answers(request))

    @property
    def layout(self) -> Layout:
        return self._stack

    @property
    def scrolled(self) -> SeenScroll:
        """The part that keys scroll, and whose end has to be seen."""
        return self._scopes if self.has_class("-scoping") else self._preview

    def compose(self) -> ComposeResult:
        yield self._preview
        yield self._scopes
        yield self._facts
        yield self._reason
        yield self._note
        yield self._legend
        yield self.row

    def on_resize(self) -> None:
        self._show_title()

    def show_place(self, place: str) -> None:
        """Such as `1 of 3`; empty when nothing else waits."""
        self._place = place
        self._show_title()

    def show_ready(self, is_ready: bool) -> None:
        mark = f"ready {self._chrome.ready}" if is_ready else f"hold {self._chrome.hold} keys go to the draft"
        if not is_ready and self.size.width < len(mark) + _TITLE_MARGIN:
            mark = f"hold {self._chrome.hold}"
        if self.has_class("-explaining"):
            mark = "deny, say why"
        self.border_subtitle = Content(mark)
        self.set_class(is_ready, "-ready")
        self.row.disable(frozenset() if self._preview.is_end_seen else _ALLOWING)

    def show_scopes(self, *, is_open: bool, picked: int | None) -> None:
        if is_open:
            self._legend.update(Content(f"1-{len(self._request.grants)} pick   ^Y allow that   Esc back"))
            self._scopes.mark(picked)
        self.set_class(is_open, "-scoping")

    def show_reason(self, *, is_open: bool) -> None:
        if is_open:
            self._legend.update(Content("Enter deny and send this   ^J new line   Esc back"))
        self.set_class(is_open, "-explaining")

    def note(self, text: str) -> None:
        self._note.display = bool(text)
        self._note.update(Content(text))

    def _show_title(self) -> None:
        width = max(1, self.outer_size.width - _TITLE_MARGIN)
        self.border_title = Content(title(self._request, self._place, width, self._chrome))
