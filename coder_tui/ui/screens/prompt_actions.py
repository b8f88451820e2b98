"""Keys of the session that belong to writing a message."""

from textual import on

from coder_tui.ui.composing import Composing
from coder_tui.ui.widgets.completion import CompletionList


class PromptActions:
    """Part of a screen: another part makes the widgets."""

    composing: Composing

    def action_search_history(self) -> None:
        self.composing.completer.search_history()

    def action_edit_draft(self) -> None:
        self.composing.edit()

    @on(CompletionList.Clicked)
    def _suggestion_clicked(self, event: CompletionList.Clicked) -> None:
        self.composing.completer.click(event.index)
