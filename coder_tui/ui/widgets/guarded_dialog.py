"""The frame of a dialog whose keys are guarded: a part that scrolls, notes, and answers in a row."""

from abc import abstractmethod

from textual.containers import Vertical
from textual.content import Content
from textual.layout import Layout
from textual.widgets import Static

from coder_tui.ui.approval_guard import Choice
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.widgets.choices import Answer, AnswerRow
from coder_tui.ui.widgets.seen_scroll import SeenScroll
from coder_tui.ui.widgets.stack import Stack

ALLOWING = frozenset({Choice.ALLOW, Choice.ALWAYS})
TITLE_MARGIN = 6
"""Columns of the frame that the title does not have."""


class GuardedDialog(Vertical):
    """It decides nothing: the screen tells it what to show."""

    DEFAULT_CSS = """
    GuardedDialog {
        width: 92%; max-width: 130; height: auto; max-height: 100%;
        background: $surface; border: round $warning; border-title-color: $text-warning;
        border-title-style: bold; border-subtitle-color: $text-muted;
        &.-ready { border: round $primary; border-subtitle-color: $text-primary; }
        &.-full { width: 100%; max-width: 100%; }
        #note { height: auto; padding: 0 1; color: $text-warning; display: none; }
    }
    """

    def __init__(self, chrome: Chrome, answers: tuple[Answer, ...]) -> None:
        super().__init__(id="dialog")
        self._stack = Stack()
        self._chrome = chrome
        self._note = Static(id="note", markup=False)
        self.row = AnswerRow(answers)

    @property
    def layout(self) -> Layout:
        return self._stack

    @property
    @abstractmethod
    def scrolled(self) -> SeenScroll:
        """The part that keys scroll, and whose end has to be seen."""

    @property
    def is_end_seen(self) -> bool:
        """Whether enough was seen to allow anything."""
        return self.scrolled.is_end_seen

    def show_ready(self, is_ready: bool) -> None:
        self.border_subtitle = Content(self.state_words(is_ready))
        self.set_class(is_ready, "-ready")
        self.row.disable(frozenset() if self.is_end_seen else ALLOWING)

    def state_words(self, is_ready: bool) -> str:
        if is_ready:
            short = f"ready {self._chrome.ready}"
            words = f"PgDn shows more  {short}" if self.scrolled.has_more else short
        else:
            short = f"hold {self._chrome.hold}"
            words = f"{short} keys go to the draft"
        return words if self.size.width >= len(words) + TITLE_MARGIN else short

    def note(self, text: str) -> None:
        self._note.display = bool(text)
        self._note.update(Content(text))
