"""What the approval dialog shows; it decides nothing.

Why a request is before the person at all: the rule that asks, and what it rests on.

How far "always" would reach: each scope with the exact rule it adds, and where that is kept.
"""

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from coder_tui.protocol.diagnostics import ProposalCheck
from coder_tui.protocol.requests import ApprovalRequest, Grant, GrantForm, GrantScope
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.chrome.banners import OtherRequests, Waiting
from coder_tui.ui.draw.strips import cut
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.launch import AnswerKeys
from coder_tui.ui.prompt.prompt import Prompt
from coder_tui.ui.requests.detail_rows import DetailRows
from coder_tui.ui.requests.details import (
    CLAIM,
    Detail,
    Weight,
    check_rows,
    check_words,
    digest,
    found,
    is_command,
    title,
)
from coder_tui.ui.requests.dialog_frame import TITLE_MARGIN, Answer, GuardedDialog, Legend
from coder_tui.ui.requests.key_guard import Choice
from coder_tui.ui.requests.preview import Preview, has_hunks
from coder_tui.ui.requests.seen_scroll import SeenScroll


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


MOST_SCOPES = 9
"""They are picked by one digit."""

_NAMED = 3
_LONGEST = 40
_KEPT = {
    GrantScope.SESSION: "until this session ends",
    GrantScope.PROJECT: "kept in .coder-tui/config.toml of this project",
    GrantScope.USER: "kept in your own settings, for all projects",
}
_READ = {
    GrantForm.EXACT: "exactly",
    GrantForm.FOLDER: "in and below",
    GrantForm.GLOB: "matching",
}


class Scopes(SeenScroll):
    """A rule is never shortened: it scrolls."""

    DEFAULT_CSS = "Scopes { display: none; #scopes-head { height: 1; text-style: bold; } }"

    def __init__(
        self, grants: tuple[Grant, ...], covered: tuple[tuple[str, ...], ...], chrome: Chrome
    ) -> None:
        super().__init__(id="scopes")
        self._grants = grants[:MOST_SCOPES]
        self._covered = covered
        self._chrome = chrome
        self._head = Static(Content("Do not ask again for"), id="scopes-head", markup=False)
        self._rows = DetailRows(self._details(None), glyphs=chrome)

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._rows

    def mark(self, picked: int | None) -> None:
        self._rows.show(self._details(picked))

    def _details(self, picked: int | None) -> tuple[Detail, ...]:
        rows = []
        for index, grant in enumerate(self._grants):
            rows.append(self._detail(index, grant, is_picked=index == picked))
            if covered := self._coverage(index):
                rows.append(Detail("", covered, weight=Weight.CLAIM))
        return tuple(rows)

    def _detail(self, index: int, grant: Grant, *, is_picked: bool) -> Detail:
        mark = self._chrome.ready if is_picked else self._chrome.hold
        weight = Weight.MARKED if is_picked else Weight.PLAIN
        reason = f"{rule(grant)} {self._chrome.dot} {_KEPT[grant.scope]}"
        return Detail(f"{index + 1} {mark}", safe_line(grant.label), reason, weight, is_below=True)

    def _coverage(self, index: int) -> str:
        """What it would have let pass so far, so that its reach is seen in the person's own work."""
        covered = self._covered[index] if index < len(self._covered) else ()
        if not covered:
            return ""
        named = ", ".join(
            cut(safe_line(summary), _LONGEST, self._chrome.more) for summary in covered[:_NAMED]
        )
        rest = f" and {len(covered) - _NAMED} more" if len(covered) > _NAMED else ""
        return f"would have covered {named}{rest}"


def rule(grant: Grant) -> str:
    """The rule in words; every pattern in full."""
    patterns = " and ".join(f'"{pattern}"' for pattern in grant.patterns)
    return safe_line(f"{grant.key} {_READ[grant.form]} {patterns}")


def answers(request: ApprovalRequest, keys: AnswerKeys) -> tuple[Answer, ...]:
    has_letters = keys is AnswerKeys.LETTERS
    key = "^Y y" if request.is_undoable and has_letters else "^Y"
    verb = "run once" if is_command(request) else "allow once"
    always = (Answer(Choice.ALWAYS, keyed("a", keys), "always"),) if request.grants else ()
    edit = (Answer(Choice.EDIT, keyed("e", keys), "edit"),) if request.editable is not None else ()
    hunk_keys = "] [ x" if has_letters else "Alt+J Alt+K Alt+X"
    hunk = (Answer(Choice.HUNK, hunk_keys, "refuse a hunk"),) if has_hunks(request) else ()
    return (
        Answer(Choice.ALLOW, key, verb),
        *hunk,
        *always,
        Answer(Choice.DENY, keyed("n", keys), "deny"),
        Answer(Choice.EXPLAIN, keyed("d", keys), "deny, say why"),
        *edit,
        Answer(Choice.WHY, "?" if has_letters else "Alt+W", "why"),
        Answer(Choice.CANCEL, "Esc", "stop the turn" if request.is_in_turn else "cancel"),
    )


def keyed(letter: str, keys: AnswerKeys) -> str:
    """A letter as it has to be pressed."""
    return letter if keys is AnswerKeys.LETTERS else f"Alt+{letter.upper()}"


class ApprovalDialog(GuardedDialog):
    """Title, preview, digest and answers of one request, and the fields that some answers need."""

    DEFAULT_CSS = """
    ApprovalDialog {
        #digest { height: auto; padding: 0 1; color: $text-muted; border-top: solid $border-blurred; }
        OtherRequests { border-top: solid $border-blurred; }
        #reason, #edited { display: none; max-height: 4; padding: 0 1; background: $panel; }
        #edited { max-height: 12; }
        #legend { display: none; }
        &.-explaining {
            #reason, #legend { display: block; }
            AnswerRow { display: none; }
        }
        &.-editing {
            #edited, #legend { display: block; }
            AnswerRow, OtherRequests { display: none; }
        }
        &.-scoping {
            Scopes, #legend { display: block; }
            Preview, #digest, OtherRequests, AnswerRow { display: none; }
        }
        &.-why { Why { display: block; } Preview { display: none; } }
    }
    """

    def __init__(
        self, request: ApprovalRequest, chrome: Chrome, reason: Prompt, edited: Prompt, keys: AnswerKeys
    ) -> None:
        super().__init__(chrome, answers(request, keys))
        self._request = request
        self._place = ""
        words = self._words = digest(request, chrome)
        self._preview = Preview(request, words, chrome)
        self._scopes = Scopes(request.grants, request.covered, chrome)
        self._why = Why(request, chrome)
        self._digest = Static(words, id="digest", markup=False)
        self._others = OtherRequests(chrome)
        self._reason = reason
        self._edited = edited
        self._legend = Legend()

    @property
    def scrolled(self) -> SeenScroll:
        if self.has_class("-scoping"):
            return self._scopes
        return self._why if self.is_telling_why else self._preview

    @property
    def preview(self) -> Preview:
        return self._preview

    @property
    def is_telling_why(self) -> bool:
        return self.has_class("-why")

    @property
    def is_end_seen(self) -> bool:
        return self._preview.is_end_seen

    def compose(self) -> ComposeResult:
        yield self._preview
        yield self._scopes
        yield self._why
        yield self._digest
        yield self._others
        yield self._note
        yield self._reason
        yield self._edited
        yield self._legend
        yield self.row

    def on_resize(self) -> None:
        self._show_title()

    def show_queue(self, place: str, others: Waiting) -> None:
        """Such as `1 of 3` and the two that wait; empty when nothing else does."""
        self._place = place
        self._others.show(others)
        self._show_title()

    def show_check(self, check: ProposalCheck) -> None:
        """What language servers say came in; nothing moves but the words of the digest."""
        words, style = check_words(check, self._chrome)
        digest = Content(f" {self._chrome.dot} ").join(
            [self._words, *([Content.styled(words, style)] if words else [])]
        )
        self._digest.update(digest)
        self._preview.show_digest(digest)
        self._why.show_besides(check_rows(check, self._chrome))

    def state_words(self, is_ready: bool) -> str:
        if self.has_class("-explaining"):
            return "deny, say why"
        if self.has_class("-editing"):
            return "edit"
        words = super().state_words(is_ready)
        refused = f"{self._refused_words}  {words}" if self._refused_words else words
        return refused if self.size.width >= len(refused) + TITLE_MARGIN else words

    @property
    def _refused_words(self) -> str:
        hunks = self._preview.hunks
        if hunks is None or not hunks.refused:
            return ""
        refused, count = len(hunks.refused), len(hunks.hunks)
        return f"{refused} of {count} hunks refused" if refused < count else "all hunks refused: ^Y denies"

    def show_scopes(self, *, is_open: bool, picked: int | None) -> None:
        if is_open:
            count = len(self._request.grants)
            digits = f"1-{count}" if count > 1 else "1"
            self._legend.show((digits, "pick"), ("^Y", "allow that"), ("Esc", "back"))
            self._scopes.mark(picked)
        self.set_class(is_open, "-scoping")

    def show_why(self, *, is_open: bool) -> None:
        self.set_class(is_open, "-why")

    def refuse_hunk(self) -> None:
        """Leave the marked hunk out, or take it in again."""
        hunks = self._preview.hunks
        if hunks is None:
            return
        hunks.turn_over()
        self.border_subtitle = Content(self.state_words(self.has_class("-ready")))

    def show_reason(self, *, is_open: bool) -> None:
        if is_open:
            self._legend.show(("Enter", "deny and send this"), ("^J", "new line"), ("Esc", "back"))
        self.set_class(is_open, "-explaining")

    def show_edited(self, *, is_open: bool) -> None:
        if is_open:
            verb = "run" if is_command(self._request) else "use"
            self._legend.show(("^Y", f"{verb} this instead"), ("Enter", "new line"), ("Esc", "back"))
        self.set_class(is_open, "-editing")

    def _show_title(self) -> None:
        width = max(1, self.outer_size.width - TITLE_MARGIN)
        self.border_title = Content(title(self._request, self._place, width, self._chrome))
