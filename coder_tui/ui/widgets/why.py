"""Why a request is before the person at all: the rule that asks, and what it rests on."""

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from coder_tui.protocol.requests import ApprovalRequest
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.widgets.detail_rows import DetailRows
from coder_tui.ui.widgets.request_words import CLAIM, Detail, Weight, found
from coder_tui.ui.widgets.seen_scroll import SeenScroll


class Why(SeenScroll):
    """In the program's own words, and those of checkers."""

    DEFAULT_CSS = "Why { display: none; #why-head { height: 1; text-style: bold; margin: 0 0 1 0; } }"

    def __init__(self, request: ApprovalRequest, chrome: Chrome) -> None:
        super().__init__(id="why")
        self._head = Static(Content("Why you are asked"), id="why-head", markup=False)
        self._reasons = why_rows(request)
        self._rows = DetailRows(self._reasons, glyphs=chrome)

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._rows

    def show_besides(self, rows: tuple[Detail, ...]) -> None:
        """What was found out after the question was asked."""
        self._rows.show((*self._reasons, *rows))


def why_rows(request: ApprovalRequest) -> tuple[Detail, ...]:
    reasons = [safe_line(fact) for fact in request.facts if not fact.startswith(CLAIM)]
    rows = [Detail("rule", safe_line(request.rule) or "none", weight=Weight.MARKED)]
    rows += [Detail("" if index else "because", reason) for index, reason in enumerate(reasons)]
    rows += found(request)
    if request.sandbox:
        rows.append(Detail("sandbox", safe_line(request.sandbox)))
    rows.append(_undo_row(request))
    return tuple(rows)


_COMMAND = "/undo takes back files of this folder at most; none ignored by git or huge, no background job"


def _undo_row(request: ApprovalRequest) -> Detail:
    if request.is_undoable:
        words = "/undo removes what is new" if request.is_new_file else "the old version is kept"
        return Detail("undo", words, weight=Weight.GOOD)
    words = _COMMAND if request.is_command else "cannot be undone"
    return Detail("undo", words, weight=Weight.WARNING)
