"""The dialog that asks whether a plan is to be carried out; guarded as approvals are.

What the plan screen shows; it decides nothing.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import assert_never

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static
from textual.worker import Worker, WorkerCancelled

from coder_tui.protocol.display import MarkdownBlock
from coder_tui.protocol.requests import Editable, PlanDecision, PlanReply, PlanRequest
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.chrome.banners import Waiting
from coder_tui.ui.draw.strips import cut
from coder_tui.ui.external_editor import Edited, NoEditor, NotEdited, Outcome
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keymap import deliver
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.launch import AnswerKeys
from coder_tui.ui.prompt.prompt import Prompt, PromptHistory, keep_in_memory
from coder_tui.ui.requests.approval_dialog import keyed
from coder_tui.ui.requests.dialog_frame import TITLE_MARGIN, Answer, Closed, GuardedDialog, Legend
from coder_tui.ui.requests.guarded_screen import GuardedScreen, guarding
from coder_tui.ui.requests.key_guard import Choice
from coder_tui.ui.requests.preview import BlockView
from coder_tui.ui.requests.seen_scroll import SeenScroll


def answers(keys: AnswerKeys) -> tuple[Answer, ...]:
    return (
        Answer(Choice.ALLOW, "^Y", "carry it out"),
        Answer(Choice.EXPLAIN, keyed("d", keys), "say what to change"),
        Answer(Choice.DENY, keyed("n", keys), "keep planning"),
        Answer(Choice.EDIT, keyed("e", keys), "edit"),
        Answer(Choice.CANCEL, "Esc", "not now"),
    )


MOST_DRAWN = 30_000
"""Characters: a plan is drawn at once, and a longer one would hold the screen up."""


class PlanScroll(SeenScroll):
    """A plan of any sensible length; the rest of an endless one is for an editor."""

    DEFAULT_CSS = "PlanScroll #rest { height: auto; color: $text-warning; }"

    def __init__(self, plan: str, chrome: Chrome) -> None:
        super().__init__(id="plan")
        self._chrome = chrome
        self._plan = plan

    def compose(self) -> ComposeResult:
        yield BlockView(MarkdownBlock(self._plan[:MOST_DRAWN]), glyphs=self._chrome)
        if len(self._plan) > MOST_DRAWN:
            missing = len(self._plan) - MOST_DRAWN
            words = f"{self._chrome.more} {missing} more characters: edit shows all of it"
            yield Static(Content(words), id="rest", markup=False)

    async def show(self, plan: str) -> None:
        """Another plan, from its beginning."""
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

    def __init__(self, request: PlanRequest, chrome: Chrome, reason: Prompt, keys: AnswerKeys) -> None:
        super().__init__(chrome, answers(keys))
        self._request = request
        self.plan = PlanScroll(request.plan, chrome)
        self._reason = reason
        self._place = ""
        self._is_edited = False
        self._legend = Legend((("Enter", "send this, keep planning"), ("^J", "new line"), ("Esc", "back")))

    @property
    def scrolled(self) -> SeenScroll:
        return self.plan

    @property
    def is_end_seen(self) -> bool:
        """A plan does nothing by itself: each of its steps is decided again."""
        return True

    def compose(self) -> ComposeResult:
        yield self.plan
        yield self._note
        yield self._reason
        yield self._legend
        yield self.row

    def on_resize(self) -> None:
        self._show_title()

    def show_queue(self, place: str) -> None:
        self._place = place
        self._show_title()

    def show_edited(self) -> None:
        self._is_edited = True
        self._show_title()

    def show_reason(self, *, is_open: bool) -> None:
        self.set_class(is_open, "-explaining")

    def state_words(self, is_ready: bool) -> str:
        return "say what to change" if self.has_class("-explaining") else super().state_words(is_ready)

    def _show_title(self) -> None:
        width = max(1, self.outer_size.width - TITLE_MARGIN)
        who = f"{safe_line(self._request.agent)}: " if self._request.agent else ""
        edited = "  edited by you" if self._is_edited else ""
        words = f"{who}{self._request.title}{edited}  {self._place}".rstrip()
        self.border_title = Content(cut(words, width, self._chrome.more))


LETTERS = {
    "n": Choice.DENY,
    "d": Choice.EXPLAIN,
    "e": Choice.EDIT,
    "v": Choice.SHOW,
    "y": Choice.REMIND,
}


class PlanScreen(GuardedScreen[Closed]):
    """Shows one plan; whoever edits it approves what they wrote."""

    BINDINGS = bindings(Context.PLAN)
    help_context = Context.PLAN

    def __init__(
        self,
        request: PlanRequest,
        chrome: Chrome,
        spill: Callable[[str], None],
        clock: Callable[[], float],
        edit: Callable[[Editable], Awaitable[Outcome]],
        keys: AnswerKeys,
    ) -> None:
        """`spill` takes typed characters to the draft."""
        self.request = request
        self._reason = Prompt(
            PromptHistory((), keep_in_memory), self._explained, placeholder="What to change?", id="reason"
        )
        self._dialog = PlanDialog(request, chrome, self._reason, keys)
        self._spill = spill
        self._edit = edit
        self._edited: str | None = None
        self._away: Worker[None] | None = None
        self._is_withdrawn = False
        super().__init__(self._dialog, guarding(LETTERS, 0, clock(), keys), clock)

    def compose(self) -> ComposeResult:
        yield self._dialog

    async def take(self, event: events.Key | events.Paste) -> bool:
        if self._away is not None:
            return True
        if self.focused is not self._reason:
            return await super().take(event)
        if isinstance(event, events.Key) and event.key in {"escape", "ctrl+c"}:
            self.set_focus(None)
            self._dialog.show_reason(is_open=False)
            self.rearm()
        else:
            await deliver(self, self._reason, event)
        return True

    def show_queue(self, place: str, others: Waiting) -> None:
        self._dialog.show_queue(place)

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

    def choose(self, choice: Choice) -> None:
        match choice:
            case Choice.ALLOW:
                self._close(PlanReply(PlanDecision.APPROVE, edited=self._edited))
            case Choice.DENY:
                self._close(PlanReply(PlanDecision.REFUSE))
            case Choice.CANCEL:
                self._close(PlanReply(PlanDecision.CANCEL))
            case Choice.EXPLAIN:
                self._dialog.note("")
                self._dialog.show_reason(is_open=True)
                self.set_focus(self._reason)
            case Choice.EDIT:
                self._away = self.run_worker(self._edit_elsewhere(), group="edit")
            case Choice.SHOW:
                self._dialog.toggle_class("-full")
            case Choice.REMIND | Choice.ALWAYS | Choice.WHY | Choice.HUNK:
                self._dialog.note("Ctrl+Y carries it out.")
            case _:
                assert_never(choice)

    async def _edit_elsewhere(self) -> None:
        plan = self.request.plan if self._edited is None else self._edited
        try:
            outcome = await self._edit(Editable("plan", plan, ".md"))
        finally:
            self._away = None
        if self._is_withdrawn:
            self.dock()
            return
        match outcome:
            case Edited(text):
                self._edited = text
                await self._dialog.plan.show(text)
                self._dialog.show_edited()
                self._dialog.note("Ctrl+Y carries out what you wrote.")
            case NotEdited(reason) | NoEditor(reason):
                self._dialog.note(reason)
            case _:
                assert_never(outcome)
        # What was typed while the editor closed must not answer.
        self.rearm()

    def _explained(self, words: str) -> None:
        self._close(PlanReply(PlanDecision.REFUSE, words))

    def action_list(self) -> None:
        self._close(None, wants_list=True)

    def _close(self, reply: PlanReply | None, *, wants_list: bool = False) -> None:
        # First the characters, then the pop: the next key already goes to the prompt.
        if typed := self.guard.release() + self._reason.text:
            self._spill(typed)
        self.dismiss(Closed(reply, wants_list))
