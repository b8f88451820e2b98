"""What the approval dialog shows: the request, why the user is asked, and what "always" would allow."""

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
from coder_tui.ui.requests.details import (
    CLAIM,
    Detail,
    Weight,
    check_rows,
    describe_check,
    digest,
    found,
    is_command,
    title,
)
from coder_tui.ui.requests.dialog_frame import (
    TITLE_MARGIN,
    Answer,
    GuardedDialog,
    Legend,
    MustReadScroll,
    answer_key,
)
from coder_tui.ui.requests.guarded_screen import DialogContext
from coder_tui.ui.requests.key_guard import Choice
from coder_tui.ui.requests.preview import DetailRows, Preview, has_hunks


class Why(MustReadScroll):
    """Explains why the user is asked. Nothing here is the model's own text."""

    DEFAULT_CSS = "Why { display: none; #why-head { height: 1; text-style: bold; margin: 0 0 1 0; } }"

    def __init__(self, request: ApprovalRequest, chrome: Chrome) -> None:
        self._reasons = why_rows(request)
        self._rows = DetailRows(self._reasons, glyphs=chrome)
        head = Static(Content("Why you are being asked"), id="why-head", markup=False)
        super().__init__(head, self._rows, id="why")

    def show_checks(self, rows: tuple[Detail, ...]) -> None:
        """Add what language servers reported after the dialog opened."""
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


_COMMAND = "/undo restores files in this folder, but no ignored or huge ones and no background changes"


def _undo_row(request: ApprovalRequest) -> Detail:
    if request.is_undoable:
        effect = "/undo deletes the new file" if request.is_new_file else "/undo restores the old version"
        return Detail("undo", effect, weight=Weight.GOOD)
    limits = _COMMAND if request.is_command else "cannot be undone"
    return Detail("undo", limits, weight=Weight.WARNING)


MOST_SCOPES = 9
"""A scope is picked by one digit."""

_NAMED = 3
_LONGEST = 40
_KEPT = {
    GrantScope.SESSION: "until this session ends",
    GrantScope.PROJECT: "saved in this project's .coder-tui/config.toml",
    GrantScope.USER: "saved in your settings, for all projects",
}
_READ = {
    GrantForm.EXACT: "exactly",
    GrantForm.FOLDER: "in and below",
    GrantForm.GLOB: "matching",
}


class Scopes(MustReadScroll):
    """Lists what "always" could cover. A rule is never shortened; the list scrolls."""

    DEFAULT_CSS = "Scopes { display: none; #scopes-head { height: 1; text-style: bold; } }"

    def __init__(
        self, grants: tuple[Grant, ...], covered: tuple[tuple[str, ...], ...], chrome: Chrome
    ) -> None:
        self._grants = grants[:MOST_SCOPES]
        self._covered = covered
        self._chrome = chrome
        self._rows = DetailRows(self._details(None), glyphs=chrome)
        head = Static(Content("Do not ask again for"), id="scopes-head", markup=False)
        super().__init__(head, self._rows, id="scopes")

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
        """Name earlier calls that this grant would have allowed, to show how far it reaches."""
        covered = self._covered[index] if index < len(self._covered) else ()
        if not covered:
            return ""
        named = ", ".join(
            cut(safe_line(summary), _LONGEST, self._chrome.more) for summary in covered[:_NAMED]
        )
        rest = f" and {len(covered) - _NAMED} more" if len(covered) > _NAMED else ""
        return f"would have allowed {named}{rest}"


def rule(grant: Grant) -> str:
    """Return the rule as a phrase, with every pattern in full."""
    patterns = " and ".join(f'"{pattern}"' for pattern in grant.patterns)
    return safe_line(f"{grant.key} {_READ[grant.form]} {patterns}")


def answers(request: ApprovalRequest, keys: AnswerKeys) -> tuple[Answer, ...]:
    has_letters = keys is AnswerKeys.LETTERS
    key = "^Y y" if request.is_undoable and has_letters else "^Y"
    verb = "run once" if is_command(request) else "allow once"
    always = (Answer(Choice.ALWAYS, answer_key("a", keys), "always"),) if request.grants else ()
    edit = (Answer(Choice.EDIT, answer_key("e", keys), "edit"),) if request.editable is not None else ()
    hunk_keys = "] [ x" if has_letters else "Alt+J Alt+K Alt+X"
    hunk = (Answer(Choice.HUNK, hunk_keys, "refuse a hunk"),) if has_hunks(request) else ()
    return (
        Answer(Choice.ALLOW, key, verb),
        *hunk,
        *always,
        Answer(Choice.DENY, answer_key("n", keys), "deny"),
        Answer(Choice.EXPLAIN, answer_key("d", keys), "deny, say why"),
        *edit,
        Answer(Choice.WHY, "?" if has_letters else "Alt+W", "why"),
        Answer(Choice.CANCEL, "Esc", "stop the turn" if request.is_in_turn else "cancel"),
    )


class ApprovalDialog(GuardedDialog):
    """Shows the title, preview, digest and answers of one request, and the fields that some answers need."""

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
        self, request: ApprovalRequest, context: DialogContext, reason: Prompt, edited: Prompt
    ) -> None:
        chrome = context.chrome
        super().__init__(chrome, answers(request, context.keys))
        self._request = request
        words = self._words = digest(request, chrome)
        self.preview = Preview(request, words, chrome)
        self._scopes = Scopes(request.grants, request.covered, chrome)
        self._why = Why(request, chrome)
        self._digest = Static(words, id="digest", markup=False)
        self._others = OtherRequests(chrome)
        self._reason = reason
        self._edited = edited
        self._legend = Legend()

    @property
    def scrolled(self) -> MustReadScroll:
        if self.has_class("-scoping"):
            return self._scopes
        return self._why if self.is_showing_why else self.preview

    @property
    def is_showing_why(self) -> bool:
        return self.has_class("-why")

    @property
    def is_end_seen(self) -> bool:
        return self.preview.is_end_seen

    def compose(self) -> ComposeResult:
        yield self.preview
        yield self._scopes
        yield self._why
        yield self._digest
        yield self._others
        yield self._note
        yield self._reason
        yield self._edited
        yield self._legend
        yield self.row

    def heading(self, width: int) -> str:
        return title(self._request, self._place, width, self._chrome)

    def show_queue(self, place: str, others: Waiting) -> None:
        self._others.show(others)
        super().show_queue(place, others)

    def show_check(self, check: ProposalCheck) -> None:
        """Show a new result of language servers. Only the text of the digest changes; nothing moves."""
        words, style = describe_check(check, self._chrome)
        digest = Content(f" {self._chrome.dot} ").join(
            [self._words, *([Content.styled(words, style)] if words else [])]
        )
        self._digest.update(digest)
        self.preview.show_digest(digest)
        self._why.show_checks(check_rows(check, self._chrome))

    def describe_state(self, is_ready: bool) -> str:
        if self.has_class("-explaining"):
            return "deny, say why"
        if self.has_class("-editing"):
            return "edit"
        words = super().describe_state(is_ready)
        refused = f"{self._refused_text}  {words}" if self._refused_text else words
        return refused if self.size.width >= len(refused) + TITLE_MARGIN else words

    @property
    def _refused_text(self) -> str:
        hunks = self.preview.hunks
        if hunks is None or not hunks.refused:
            return ""
        refused, count = len(hunks.refused), len(hunks.hunks)
        return f"{refused} of {count} hunks refused" if refused < count else "all hunks refused: ^Y denies"

    def show_scopes(self, *, is_open: bool, picked: int | None) -> None:
        if is_open:
            count = len(self._request.grants)
            digits = f"1-{count}" if count > 1 else "1"
            self._legend.show((digits, "pick"), ("^Y", "allow this"), ("Esc", "back"))
            self._scopes.mark(picked)
        self.set_class(is_open, "-scoping")

    def show_why(self, *, is_open: bool) -> None:
        self.set_class(is_open, "-why")

    def refuse_hunk(self) -> None:
        """Refuse the marked hunk, or include it again."""
        hunks = self.preview.hunks
        if hunks is None:
            return
        hunks.turn_over()
        self.border_subtitle = Content(self.describe_state(self.has_class("-ready")))

    def show_reason(self) -> None:
        self._legend.show(("Enter", "deny and send this"), ("^J", "new line"), ("Esc", "back"))
        super().show_reason()

    def show_edited(self) -> None:
        verb = "run" if is_command(self._request) else "use"
        self._legend.show(("^Y", f"{verb} this instead"), ("Enter", "new line"), ("Esc", "back"))
        self.add_class("-editing")
