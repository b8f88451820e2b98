"""Keys of the session that change how the transcript is seen, wherever the focus is."""

from coder_tui.ui.screens.furnished import Furnished

MOUSE_AWAY = "The mouse is the terminal's now: it selects and copies. /mouse takes it back."
MOUSE_HERE = "The mouse is the program's again."


class ReadingActions(Furnished):
    """Half of a screen: the other half makes the widgets."""

    def action_fold(self) -> None:
        self.transcript.toggle_fold()

    def action_thinking(self) -> None:
        self.transcript.cycle_thinking()

    def action_page(self, way: int) -> None:
        if way < 0:
            self.transcript.scroll_page_up(animate=False)
        else:
            self.transcript.scroll_page_down(animate=False)

    def action_mouse(self) -> None:
        """Terminals select and copy by mouse only what a program leaves to them."""
        from coder_tui.ui.textual_internals import turn_mouse

        is_ours = turn_mouse(self.app)
        self.hints.show(MOUSE_HERE if is_ours else MOUSE_AWAY)

    def action_browse(self) -> None:
        self.transcript.focus()

    def action_search(self, words: str = "") -> None:
        self.transcript.focus()
        self.transcript.action_search()
        if words:
            self.transcript.type_text(words)

    def action_subagents(self) -> None:
        self.reader.list_children()

    def action_log(self) -> None:
        """What was shown for a moment, to be read again."""
        self.reader.read_text("Messages of this session", self.hints.said or "Nothing was said yet.")
