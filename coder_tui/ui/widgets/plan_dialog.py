"""What the plan screen shows; it decides nothing."""

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from coder_tui.protocol.display import MarkdownBlock
from coder_tui.protocol.requests import PlanRequest
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.approval_guard import Choice
from coder_tui.ui.drawing.strips import cut
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.launch import AnswerKeys
from coder_tui.ui.widgets.approval_dialog import keyed
from coder_tui.ui.widgets.block_view import BlockView
from coder_tui.ui.widgets.choices import Answer
from coder_tui.ui.widgets.guarded_dialog import TITLE_MARGIN, GuardedDialog
from coder_tui.ui.widgets.legend import Legend
from coder_tui.ui.widgets.prompt import Prompt
from coder_tui.ui.widgets.seen_scroll import SeenScroll


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
