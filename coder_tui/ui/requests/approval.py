"""The approval dialog: asks whether a call may run. Every key goes through the guard first."""

from typing import assert_never

from coder_tui.protocol.diagnostics import ProposalCheck
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest, Decision, Grant
from coder_tui.text.safe_text import has_unsafe
from coder_tui.ui.diff.block import DiffBlockView
from coder_tui.ui.external_editor import Edited, NoEditor, NotEdited, Outcome
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.prompt.prompt import Prompt
from coder_tui.ui.requests.approval_dialog import ApprovalDialog
from coder_tui.ui.requests.guarded_screen import (
    SCROLL_FIRST,
    DialogContext,
    Edit,
    EditableRequestScreen,
    answer_field,
    make_guard,
)
from coder_tui.ui.requests.key_guard import Choice, Step

_HEIGHTS = [(0, "-cramped"), (16, "-roomy")]
HIDDEN = "It has hidden characters, which an editor may obey or hide. Press e again to open it."
HIDDEN_HERE = "It has hidden characters, so it cannot be edited here. Set $EDITOR to use your editor."

NOT_UNDONE = "This cannot be undone. Press Ctrl+Y to allow it."
PARTLY = "Not all of this can be undone. Press Ctrl+Y to allow it."
CUT = "Long lines are cut off. Press w to show them in full before allowing."

_HUNK_MOVES = {"]": 1, "[": -1, "x": 0}
_LOOKS = "|w"
_CHORDS = {"alt+j": "]", "alt+k": "[", "alt+x": "x", "alt+l": "|", "alt+z": "w"}


def letters(request: ApprovalRequest) -> dict[str, Choice]:
    """Return the printable answers. `y` allows only what can be undone, otherwise it names Ctrl+Y."""
    found = {"n": Choice.DENY, "d": Choice.EXPLAIN, "v": Choice.SHOW, "?": Choice.WHY}
    found["y"] = Choice.ALLOW if request.is_undoable else Choice.REMIND
    if request.grants:
        found["a"] = Choice.ALWAYS
    if request.editable is not None:
        found["e"] = Choice.EDIT
    return found


class ApprovalScreen(EditableRequestScreen):
    """Shows one approval request."""

    DEFAULT_CSS = """
    ApprovalScreen {
        &.-cramped #digest, &.-cramped #others { display: none; }
        &.-cramped #digest-inside { display: block; }
    }
    """
    # The app's own key bindings do not apply in a modal screen.
    BINDINGS = bindings(Context.APPROVAL)
    VERTICAL_BREAKPOINTS = _HEIGHTS
    help_context = Context.APPROVAL
    _dialog: ApprovalDialog

    def __init__(self, request: ApprovalRequest, context: DialogContext, edit: Edit) -> None:
        self.request = request
        self._picked: int | None = None
        self._is_warned = False
        reason = answer_field("reason", "Why not?", self._explained)
        self._edited = answer_field("edited", "What should run instead?", self._rewritten)
        dialog = ApprovalDialog(request, context, reason, self._edited)
        preview = dialog.preview
        moves = "".join(_HUNK_MOVES) * (preview.hunks is not None) + _LOOKS * (preview.diff is not None)
        guard = make_guard(context, letters(request), len(request.grants), moves)
        super().__init__(dialog, guard, context, edit, reason)

    def handle_field_key(self, field: Prompt, key: str) -> bool:
        if field is not self._edited or key not in {"ctrl+y", "enter"}:
            return False
        if key == "ctrl+y":
            self._rewritten(field.text)
        else:
            # Not an answer: a user who mistook the dialog for the prompt would run what they typed.
            field.type_text("\n")
        return True

    def show_check(self, check: ProposalCheck) -> None:
        self._dialog.show_check(check)

    def pick(self, index: int) -> None:
        self._picked = index
        self._dialog.note("")

    def move(self, key: str) -> bool:
        """Go to another hunk, refuse the marked one, or change how the diff is shown."""
        key, preview = _CHORDS.get(key, key), self._dialog.preview
        if self.guard.step is not Step.ASK:
            return False
        if key in _LOOKS and preview.diff is not None:
            self._turn(preview.diff, key)
        elif key not in _HUNK_MOVES or preview.hunks is None:
            return False
        elif key == "x":
            self.choose(Choice.HUNK)
        else:
            preview.move_hunk(_HUNK_MOVES[key])
        return True

    def _turn(self, diff: DiffBlockView, key: str) -> None:
        if key == "w":
            diff.turn_wrap()
        else:
            diff.turn_layout()
        self._dialog.note(CUT if self._dialog.preview.is_cut and not self._dialog.is_end_seen else "")

    def show_step(self) -> None:
        self._dialog.show_scopes(is_open=self.guard.step is Step.SCOPE, picked=self._picked)

    def choose(self, choice: Choice) -> None:
        was_showing_why = self._dialog.is_showing_why
        self._dialog.show_why(is_open=False)
        match choice:
            case Choice.CANCEL if was_showing_why:
                pass
            case Choice.DENY:
                self.close(ApprovalReply(Decision.DENY))
            case Choice.CANCEL:
                self.close(ApprovalReply(Decision.CANCEL_TURN))
            case Choice.EXPLAIN:
                self.explain()
            case Choice.EDIT:
                self._start_editing()
            case Choice.SHOW:
                self._dialog.toggle_class("-full")
            case Choice.HUNK:
                self._dialog.refuse_hunk()
            case Choice.WHY:
                self._dialog.show_why(is_open=not was_showing_why)
            case Choice.REMIND:
                self._dialog.note(PARTLY if self.request.is_command else NOT_UNDONE)
            case Choice.ALLOW | Choice.ALWAYS:
                self._allow(choice)
            case _:
                assert_never(choice)

    def _allow(self, choice: Choice) -> None:
        grants = self.request.grants
        if not self._dialog.scrolled.is_end_seen:
            self._dialog.note(CUT if self._dialog.preview.is_cut else SCROLL_FIRST)
        elif self.guard.step is Step.ASK and choice is Choice.ALWAYS:
            self._dialog.note("")
            self.guard.enter(Step.SCOPE)
        elif self.guard.step is Step.ASK:
            self.close(self._allowing(Decision.ALLOW_ONCE))
        elif self._picked is None:
            self._dialog.note(f"First pick what to allow: 1 to {len(grants)}.")
        else:
            self.close(self._allowing(Decision.ALLOW_ALWAYS, grants[self._picked]))

    def _allowing(self, decision: Decision, grant: Grant | None = None) -> ApprovalReply:
        """Return the reply. If every hunk was refused, the call is denied."""
        hunks = self._dialog.preview.hunks
        if hunks is None or not hunks.refused:
            return ApprovalReply(decision, grant=grant)
        if len(hunks.refused) == len(hunks.hunks):
            return ApprovalReply(Decision.DENY)
        return ApprovalReply(decision, grant=grant, refused=hunks.refused)

    def _start_editing(self) -> None:
        editable = self.request.editable
        if editable is None:
            return
        if has_unsafe(editable.text) and not self._is_warned:
            self._is_warned = True
            self._dialog.note(HIDDEN)
            return
        self._dialog.note("")
        self.edit(editable)

    async def edited(self, outcome: Outcome) -> None:
        match outcome:
            case Edited(text):
                self.close(ApprovalReply(Decision.MODIFY, edited=text))
            case NotEdited(reason):
                self._dialog.note(reason)
            case NoEditor(reason):
                self._edit_here(reason)
            case _:
                assert_never(outcome)

    def _edit_here(self, reason: str) -> None:
        editable = self.request.editable
        if editable is None:
            return
        if has_unsafe(editable.text):
            self._dialog.note(f"{reason} {HIDDEN_HERE}")
            return
        self._dialog.note(f"{reason} Edit it here:")
        self._edited.show_draft(editable.text)
        self._dialog.show_edited()
        self.set_focus(self._edited)

    def _explained(self, message: str) -> None:
        self.close(ApprovalReply(Decision.DENY, message))

    def _rewritten(self, text: str) -> None:
        if not text.strip():
            self._dialog.note("This is empty. To refuse the call, press Esc and deny it.")
        elif self.request.editable is not None and text == self.request.editable.text:
            self.leave_fields()
            self._dialog.note("Nothing was changed.")
        else:
            self.close(ApprovalReply(Decision.MODIFY, edited=text))
