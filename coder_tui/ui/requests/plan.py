"""The dialog that asks whether to carry out a plan. It is guarded like an approval."""

from typing import assert_never

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from coder_tui.protocol.display import MarkdownBlock
from coder_tui.protocol.requests import Editable, PlanDecision, PlanReply, PlanRequest
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.draw.strips import cut
from coder_tui.ui.external_editor import Edited, NoEditor, NotEdited, Outcome
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.launch import AnswerKeys
from coder_tui.ui.prompt.prompt import Prompt
from coder_tui.ui.requests.dialog_frame import Answer, GuardedDialog, Legend, MustReadScroll, answer_key
from coder_tui.ui.requests.guarded_screen import (
    DialogContext,
    Edit,
    EditableRequestScreen,
    answer_field,
    make_guard,
)
from coder_tui.ui.requests.key_guard import Choice
from coder_tui.ui.requests.preview import BlockView


def answers(keys: AnswerKeys) -> tuple[Answer, ...]:
    return (
        Answer(Choice.ALLOW, "^Y", "carry it out"),
        Answer(Choice.EXPLAIN, answer_key("d", keys), "say what to change"),
        Answer(Choice.DENY, answer_key("n", keys), "keep planning"),
        Answer(Choice.EDIT, answer_key("e", keys), "edit"),
        Answer(Choice.CANCEL, "Esc", "not now"),
    )


MOST_DRAWN = 30_000
"""Characters. A plan is drawn in one go, so a longer one would block the screen."""


class PlanScroll(MustReadScroll):
    """Shows a plan. The rest of a very long one can be read in an editor."""

    DEFAULT_CSS = "PlanScroll #rest { height: auto; color: $text-warning; }"

    def __init__(self, plan: str, chrome: Chrome) -> None:
        super().__init__(id="plan")
        self._chrome = chrome
        self._plan = plan

    def compose(self) -> ComposeResult:
        yield BlockView(MarkdownBlock(self._plan[:MOST_DRAWN]), glyphs=self._chrome)
        if len(self._plan) > MOST_DRAWN:
            missing = len(self._plan) - MOST_DRAWN
            words = f"{self._chrome.more} {missing} more characters. Edit the plan to see all of it."
            yield Static(Content(words), id="rest", markup=False)

    async def show(self, plan: str) -> None:
        """Show another plan from its beginning."""
        self._plan = plan
        await self.recompose()
        self.scroll_home(animate=False)


class PlanDialog(GuardedDialog):
    DEFAULT_CSS = """
    PlanDialog {
        #reason { display: none; max-height: 4; padding: 0 1; background: $panel; }
        #legend { display: none; }
        AnswerRow { border-top: solid $border-blurred; }
        &.-explaining {
            #reason, #legend { display: block; }
            AnswerRow { display: none; }
        }
    }
    """

    def __init__(self, request: PlanRequest, context: DialogContext, reason: Prompt) -> None:
        super().__init__(context.chrome, answers(context.keys))
        self._request = request
        self.plan = PlanScroll(request.plan, context.chrome)
        self._reason = reason
        self._is_edited = False
        self._legend = Legend((("Enter", "send this, keep planning"), ("^J", "new line"), ("Esc", "back")))

    @property
    def scrolled(self) -> MustReadScroll:
        return self.plan

    @property
    def is_end_seen(self) -> bool:
        """Always true. A plan itself does nothing: each of its steps is decided separately."""
        return True

    def compose(self) -> ComposeResult:
        yield self.plan
        yield self._note
        yield self._reason
        yield self._legend
        yield self.row

    def show_edited(self) -> None:
        self._is_edited = True
        self.show_heading()

    def describe_state(self, is_ready: bool) -> str:
        return "say what to change" if self.has_class("-explaining") else super().describe_state(is_ready)

    def heading(self, width: int) -> str:
        who = f"{safe_line(self._request.agent)}: " if self._request.agent else ""
        edited = "  edited by you" if self._is_edited else ""
        words = f"{who}{self._request.title}{edited}  {self._place}".rstrip()
        return cut(words, width, self._chrome.more)


LETTERS = {
    "n": Choice.DENY,
    "d": Choice.EXPLAIN,
    "e": Choice.EDIT,
    "v": Choice.SHOW,
    "y": Choice.REMIND,
}


class PlanScreen(EditableRequestScreen):
    """Shows one plan. A user who edits it approves the edited version."""

    BINDINGS = bindings(Context.PLAN)
    help_context = Context.PLAN
    _dialog: PlanDialog

    def __init__(self, request: PlanRequest, context: DialogContext, edit: Edit) -> None:
        self.request = request
        self._edited: str | None = None
        reason = answer_field(
            "reason", "What to change?", lambda words: self.close(PlanReply(PlanDecision.REFUSE, words))
        )
        dialog = PlanDialog(request, context, reason)
        super().__init__(dialog, make_guard(context, LETTERS), context, edit, reason)

    def choose(self, choice: Choice) -> None:
        match choice:
            case Choice.ALLOW:
                self.close(PlanReply(PlanDecision.APPROVE, edited=self._edited))
            case Choice.DENY:
                self.close(PlanReply(PlanDecision.REFUSE))
            case Choice.CANCEL:
                self.close(PlanReply(PlanDecision.CANCEL))
            case Choice.EXPLAIN:
                self.explain()
            case Choice.EDIT:
                plan = self.request.plan if self._edited is None else self._edited
                self.edit(Editable("plan", plan, ".md"))
            case Choice.SHOW:
                self._dialog.toggle_class("-full")
            case Choice.REMIND | Choice.ALWAYS | Choice.WHY | Choice.HUNK:
                self._dialog.note("Press Ctrl+Y to carry it out.")
            case _:
                assert_never(choice)

    async def edited(self, outcome: Outcome) -> None:
        match outcome:
            case Edited(text):
                self._edited = text
                await self._dialog.plan.show(text)
                self._dialog.show_edited()
                self._dialog.note("Press Ctrl+Y to carry out your version.")
            case NotEdited(reason) | NoEditor(reason):
                self._dialog.note(reason)
            case _:
                assert_never(outcome)
