"""What the approval dialog shows; it decides nothing."""

from typing import assert_never

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import (
    DiffBlock,
    DisplayBlock,
    MarkdownBlock,
    TableBlock,
    TerminalBlock,
    TextBlock,
    TodosBlock,
)
from coder_tui.protocol.requests import ApprovalRequest
from coder_tui.text.safe_text import has_unsafe, safe_line
from coder_tui.ui.approval_guard import Choice
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.widgets.choices import Answer, AnswerRow
from coder_tui.ui.widgets.preview import Preview

_ALLOWING = frozenset({Choice.ALLOW, Choice.ALWAYS})


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


def _raw(preview: DisplayBlock) -> str:
    """The text that would be run or written, where there is one."""
    match preview:
        case TerminalBlock():
            return preview.command
        case DiffBlock():
            return preview.diff
        case TextBlock() | MarkdownBlock():
            return preview.text
        case TodosBlock() | TableBlock():
            return ""
        case _:
            assert_never(preview)


class ApprovalDialog(Vertical):
    """Title, preview, facts and answers of one request."""

    DEFAULT_CSS = """
    ApprovalDialog {
        width: 92%; max-width: 130; height: auto; max-height: 100%;
        background: $surface; border: round $warning; border-title-color: $text-warning;
        border-title-style: bold; border-subtitle-color: $text-muted;
        &.-ready { border: round $primary; border-subtitle-color: $text-primary; }
        #facts {
            height: auto; max-height: 6; padding: 0 1; color: $text-muted; border-top: solid $border-blurred;
        }
        #scopes { height: auto; padding: 0 1; display: none; }
        #reason {
            display: none; border: none; height: 1; padding: 0 1; background: $panel;
            &:focus { border: none; }
        }
        #note { height: auto; padding: 0 1; color: $text-warning; display: none; }
    }
    """

    def __init__(self, request: ApprovalRequest, place: str, chrome: Chrome) -> None:
        super().__init__(id="dialog")
        self._request = request
        self._chrome = chrome
        self.preview = Preview(request.preview, chrome)
        self.row = AnswerRow(answers(request))
        self.reason = Input(placeholder="Why not? Enter sends, Esc goes back", id="reason")
        self._facts = Static(self._fact_lines(), id="facts", markup=False)
        self._scopes = Static(id="scopes", markup=False)
        self._note = Static(id="note", markup=False)
        self.border_title = Content(f"{safe_line(request.title)}  {place}".rstrip())

    def compose(self) -> ComposeResult:
        yield self.preview
        yield self._facts
        yield self._scopes
        yield self.reason
        yield self._note
        yield self.row

    def on_mount(self) -> None:
        self.row.disable(_ALLOWING)
        self.note("")

    def enable(self) -> None:
        """The end of the preview was shown: it may be allowed."""
        self.row.disable(frozenset())

    def show_ready(self, is_ready: bool) -> None:
        mark = f"ready {self._chrome.ready}" if is_ready else f"hold {self._chrome.hold} keys go to the draft"
        self.border_subtitle = Content(mark)
        self.set_class(is_ready, "-ready")

    def show_scopes(self, *, is_open: bool, picked: int | None) -> None:
        self._scopes.display = is_open
        self.row.display = not is_open
        if is_open:
            head = Content.styled("Always for this session. Pick by digit, then ^Y; Esc goes back:", "bold")
            self._scopes.update(Content("\n").join([head, *self._scope_lines(picked)]))

    def note(self, text: str) -> None:
        self._note.display = bool(text)
        self._note.update(Content(text))

    def fit(self, height: int) -> None:
        """Give the preview what the other rows leave, so that the answers never leave the screen."""
        others = sum(child.outer_size.height for child in self.children if child is not self.preview)
        borders = 2
        self.preview.styles.max_height = max(1, height - borders - others)

    def _scope_lines(self, picked: int | None) -> list[Content]:
        lines = []
        for index, grant in enumerate(self._request.grants[:9]):
            mark = self._chrome.ready if index == picked else self._chrome.hold
            style = "bold $text-primary" if index == picked else "$foreground"
            rule = f'{grant.key} "{grant.pattern}"'
            line = f"{index + 1} {mark} {safe_line(grant.label)}  {self._chrome.dot} rule {safe_line(rule)}"
            lines.append(Content.styled(line, style))
        return lines

    def _fact_lines(self) -> Content:
        request = self._request
        undo = ("undo available", "$text-success") if request.is_undoable else ("no undo", "$text-warning")
        parts: list[tuple[str, str]] = [undo]
        parts += [(safe_line(fact), "") for fact in request.facts]
        if request.rule:
            parts.append((f"rule: {safe_line(request.rule)}", ""))
        if has_unsafe(request.title) or has_unsafe(_raw(request.preview)):
            parts.append(("holds invisible or control characters, shown as signs", "bold $text-warning"))
        dot = Content(f" {self._chrome.dot} ")
        return dot.join([Content.styled(text, style) if style else Content(text) for text, style in parts])
