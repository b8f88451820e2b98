"""Keys of the session that belong to writing a message."""

from typing import TYPE_CHECKING

from coder_tui.ui.key_names import named
from coder_tui.ui.keys import Context
from coder_tui.ui.screens.furnished import Furnished
from coder_tui.ui.widgets.chip_field import ChipField

if TYPE_CHECKING:  # the suggestions are not needed before the first paint
    from coder_tui.ui.widgets.completion import CompletionList


class PromptActions(Furnished):
    """Part of a screen: another part makes the widgets.

    Handlers go by their names: Textual finds decorated ones only in classes of its own.
    """

    def action_search_history(self) -> None:
        self.composing.completer.search_history()

    def action_edit_draft(self) -> None:
        self.composing.edit()

    async def action_paste(self) -> None:
        """To its end before the next key: what is typed behind a paste stands behind it."""
        from coder_tui.ui.clipboard_reader import ClipboardReader
        from coder_tui.ui.pasting import Pasting

        session = self.conversation.session
        clipboard = ClipboardReader(self.launch.directory)
        model = session.model if session else ""
        await Pasting(self.prompt, clipboard, self.launch.pictures, model, self.hints.show).paste()
        self.set_focus(self.prompt)

    def on_chip_field_refused(self, event: ChipField.Refused) -> None:
        self.hints.show(named(self, event.reason, Context.COMPOSER))

    def on_completion_list_clicked(self, event: "CompletionList.Clicked") -> None:
        self.composing.completer.click(event.index)
