"""The dialog that asks whether a call may run; every key goes through the guard first."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import assert_never

from textual import events, on
from textual.app import ComposeResult
from textual.worker import Worker, WorkerCancelled

from coder_tui.protocol.diagnostics import ProposalCheck
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest, Decision, Editable, Grant
from coder_tui.text.safe_text import has_unsafe
from coder_tui.ui.chrome.banners import Waiting
from coder_tui.ui.diff.block import DiffBlockView
from coder_tui.ui.external_editor import Edited, NoEditor, NotEdited, Outcome
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keymap import deliver
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.launch import AnswerKeys
from coder_tui.ui.prompt.prompt import Prompt, PromptHistory, keep_in_memory
from coder_tui.ui.requests.approval_dialog import ApprovalDialog
from coder_tui.ui.requests.dialog_frame import Closed
from coder_tui.ui.requests.guarded_screen import SCROLL_FIRST, GuardedScreen, guarding
from coder_tui.ui.requests.key_guard import Choice, Step

_HEIGHTS = [(0, "-cramped"), (16, "-roomy")]
HIDDEN = "It holds hidden characters, which an editor may obey or not show: e again opens it."
HIDDEN_HERE = "It holds hidden characters, so it is not changed here: set $EDITOR to use yours."

NOT_UNDONE = "This cannot be undone: Ctrl+Y allows it."
PARTLY = "Not all of this could be undone: Ctrl+Y allows it."
CUT = "Long lines are cut: w shows them whole, and only then it can be allowed."

_HUNK_MOVES = {"]": 1, "[": -1, "x": 0}
_LOOKS = "|w"
_CHORDS = {"alt+j": "]", "alt+k": "[", "alt+x": "x", "alt+l": "|", "alt+z": "w"}

Edit = Callable[[Editable], Awaitable[Outcome]]
"""Lets the person rewrite a text; the terminal is theirs meanwhile."""


def letters(request: ApprovalRequest) -> dict[str, Choice]:
    """Printable answers: the letter `y` allows only what can be undone, and else says what does."""
    found = {"n": Choice.DENY, "d": Choice.EXPLAIN, "v": Choice.SHOW, "?": Choice.WHY}
    found["y"] = Choice.ALLOW if request.is_undoable else Choice.REMIND
    if request.grants:
        found["a"] = Choice.ALWAYS
    if request.editable is not None:
        found["e"] = Choice.EDIT
    return found


class ApprovalScreen(GuardedScreen[Closed]):
    """Shows one request."""

    DEFAULT_CSS = """
    ApprovalScreen {
        &.-cramped #digest, &.-cramped #others { display: none; }
        &.-cramped #digest-inside { display: block; }
    }
    """
    # In a modal screen the keys of the app do not hold.
    BINDINGS = bindings(Context.APPROVAL)
    VERTICAL_BREAKPOINTS = _HEIGHTS
    help_context = Context.APPROVAL

    def __init__(
        self,
        request: ApprovalRequest,
        chrome: Chrome,
        spill: Callable[[str], None],
        clock: Callable[[], float],
        edit: Edit,
        keys: AnswerKeys,
    ) -> None:
        """`spill` takes typed characters to the draft."""
        self.request = request
        self._reason = _field("reason", "Why not?", self._explained)
        self._edited = _field("edited", "What should run instead?", self._rewritten)
        self._dialog = ApprovalDialog(request, chrome, self._reason, self._edited, keys)
        self._spill = spill
        self._edit = edit
        self._picked: int | None = None
        self._is_warned = False
        self._away: Worker[None] | None = None
        """An editor has the terminal."""
        self._is_withdrawn = False
        preview = self._dialog.preview
        moves = "".join(_HUNK_MOVES) * (preview.hunks is not None) + _LOOKS * (preview.diff is not None)
        guard = guarding(letters(request), len(request.grants), clock(), keys, moves)
        super().__init__(self._dialog, guard, clock)

    def compose(self) -> ComposeResult:
        yield self._dialog

    async def take(self, event: events.Key | events.Paste) -> bool:
        """The guard judges every key, unless words are typed into a field."""
        if self._away is not None:
            return True
        field = self.focused
        if not isinstance(field, Prompt):
            return await super().take(event)
        key = event.key if isinstance(event, events.Key) else ""
        if key in {"escape", "ctrl+c"}:
            self._leave_fields()
        elif field is self._edited and key == "ctrl+y":
            self._rewritten(field.text)
        elif field is self._edited and key == "enter":
            # Not an answer: who took the dialog for the prompt would run what they typed.
            field.type_text("\n")
        else:
            await deliver(self, field, event)
        return True

    def show_check(self, check: ProposalCheck) -> None:
        self._dialog.show_check(check)

    def show_queue(self, place: str, others: Waiting) -> None:
        self._dialog.show_queue(place, others)

    def withdraw(self) -> None:
        """The question is void; close as soon as this is the top screen and no editor is open."""
        self._is_withdrawn = True
        if self.is_active and self._away is None:
            self.dock()

    async def stop_editing(self) -> None:
        """End an editor and take the terminal back, for a program that is about to end."""
        if self._away is not None:
            self._away.cancel()
            with suppress(WorkerCancelled):
                await self._away.wait()

    def dock(self) -> None:
        self._close(None)

    @on(events.ScreenResume)
    def _withdraw_late(self) -> None:
        if self._is_withdrawn:
            self.dock()

    def pick(self, index: int) -> None:
        self._picked = index
        self._dialog.note("")

    def move(self, key: str) -> bool:
        """To another hunk, refuse the marked one, or show the change another way."""
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
        was_telling = self._dialog.is_telling_why
        self._dialog.show_why(is_open=False)
        match choice:
            case Choice.CANCEL if was_telling:
                pass
            case Choice.DENY:
                self._close(ApprovalReply(Decision.DENY))
            case Choice.CANCEL:
                self._close(ApprovalReply(Decision.CANCEL_TURN))
            case Choice.EXPLAIN:
                self._dialog.note("")
                self._dialog.show_reason(is_open=True)
                self.set_focus(self._reason)
            case Choice.EDIT:
                self._start_editing()
            case Choice.SHOW:
                self._dialog.toggle_class("-full")
            case Choice.HUNK:
                self._dialog.refuse_hunk()
            case Choice.WHY:
                self._dialog.show_why(is_open=not was_telling)
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
            self._close(self._allowing(Decision.ALLOW_ONCE))
        elif self._picked is None:
            self._dialog.note(f"Pick how far it reaches first: 1 to {len(grants)}.")
        else:
            self._close(self._allowing(Decision.ALLOW_ALWAYS, grants[self._picked]))

    def _allowing(self, decision: Decision, grant: Grant | None = None) -> ApprovalReply:
        """Without a single hunk nothing is left to allow."""
        hunks = self._dialog.preview.hunks
        if hunks is None or not hunks.refused:
            return ApprovalReply(decision, grant=grant)
        if len(hunks.refused) == len(hunks.hunks):
            return ApprovalReply(Decision.DENY)
        return ApprovalReply(decision, grant=grant, refused=tuple(sorted(hunks.refused)))

    def _start_editing(self) -> None:
        editable = self.request.editable
        if editable is None:
            return
        if has_unsafe(editable.text) and not self._is_warned:
            self._is_warned = True
            self._dialog.note(HIDDEN)
            return
        self._dialog.note("")
        self._away = self.run_worker(self._edit_elsewhere(editable), group="edit")

    async def _edit_elsewhere(self, editable: Editable) -> None:
        try:
            outcome = await self._edit(editable)
        finally:
            self._away = None
        # What was typed while the editor closed must not answer.
        self.rearm()
        if self._is_withdrawn:
            self.dock()
            return
        match outcome:
            case Edited(text):
                self._close(ApprovalReply(Decision.MODIFY, edited=text))
            case NotEdited(reason):
                self._dialog.note(reason)
            case NoEditor(reason):
                self._edit_here(editable, reason)
            case _:
                assert_never(outcome)

    def _edit_here(self, editable: Editable, reason: str) -> None:
        if has_unsafe(editable.text):
            self._dialog.note(f"{reason} {HIDDEN_HERE}")
            return
        self._dialog.note(f"{reason} Change it here:")
        self._edited.show_draft(editable.text)
        self._dialog.show_edited(is_open=True)
        self.set_focus(self._edited)
        self.show_state()

    def _explained(self, message: str) -> None:
        self._close(ApprovalReply(Decision.DENY, message))

    def _rewritten(self, text: str) -> None:
        if not text.strip():
            self._dialog.note("It is empty. To refuse the call, go back and deny it.")
        elif self.request.editable is not None and text == self.request.editable.text:
            self._leave_fields()
            self._dialog.note("Nothing was changed.")
        else:
            self._close(ApprovalReply(Decision.MODIFY, edited=text))

    def _leave_fields(self) -> None:
        self.set_focus(None)
        self._dialog.note("")
        self._dialog.show_reason(is_open=False)
        self._dialog.show_edited(is_open=False)
        self.rearm()

    def action_list(self) -> None:
        self._close(None, wants_list=True)

    def _close(self, reply: ApprovalReply | None, *, wants_list: bool = False) -> None:
        # First the characters, then the pop: the next key already goes to the prompt.
        if typed := self.guard.release() + self._reason.text:
            self._spill(typed)
        self.dismiss(Closed(reply, wants_list))


def _field(id: str, placeholder: str, submit: Callable[[str], None]) -> Prompt:
    return Prompt(PromptHistory((), keep_in_memory), submit, placeholder=placeholder, id=id)
