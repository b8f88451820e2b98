"""Keys of the session that belong to writing a message.

Keys of the session that change how the transcript is seen, wherever the focus is.

An earlier message of the person's is edited and sent again, in a fork that ends before it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from coder_tui.protocol.errors import UserError
from coder_tui.ui.keymap import named
from coder_tui.ui.keys import Context
from coder_tui.ui.prompt.chips import ChipField
from coder_tui.ui.session.base import Furnished

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.ui.prompt.completion_list import CompletionList


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
        from coder_tui.ui.clipboard import ClipboardReader, Pasting

        session = self.conversation.session
        clipboard = ClipboardReader(self.launch.directory)
        model = session.model if session else ""
        await Pasting(self.prompt, clipboard, self.launch.pictures, model, self.hints.show).paste()
        self.set_focus(self.prompt)

    def on_chip_field_refused(self, event: ChipField.Refused) -> None:
        self.hints.show(named(self, event.reason, Context.COMPOSER))

    def on_completion_list_clicked(self, event: "CompletionList.Clicked") -> None:
        self.composing.completer.click(event.index)


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


NOT_YET = "The session is still being opened."
BUSY = "The agent is working; stop it first (Esc)."
NOT_YOURS = "Mark one of your messages first: J and K go from one to the next."
SENT_IN_A_FORK = "Enter sends this in a fork from before it; this session stays. Esc: do not."


@dataclass(frozen=True, slots=True)
class _Again:
    """The message that is edited, and the draft that it took the place of."""

    message_id: str
    draft: str


class ForkActions(Furnished):
    """Part of a screen: another part makes the widgets."""

    _again: _Again | None = None
    _again_line: Static | None = None

    def action_send_again(self) -> None:
        session, message_id = self.conversation.session, self.transcript.marked_message
        if session is None:
            self.hints.show(NOT_YET)
        elif self.conversation.is_busy:
            self.hints.show(named(self, BUSY, Context.SESSION))
        elif not message_id:
            self.hints.show(named(self, NOT_YOURS, Context.TRANSCRIPT))
        else:
            self._edit_again(session, message_id)

    def sends_again(self, text: str) -> bool:
        """Whether what was entered goes into a fork."""
        again, session = self._again, self.conversation.session
        if again is None or session is None:
            return False
        self._end_again()
        self.run_worker(self._send_in_fork(session, again.message_id, text), group="fork")
        return True

    def forgets_again(self) -> bool:
        """Leave everything as it is; False where nothing was being edited."""
        if self._again is None:
            return False
        self._end_again()
        return True

    def on_text_area_changed(self) -> None:
        if self._again is not None and self.prompt.is_empty:
            self._end_again()

    def _edit_again(self, session: "Session", message_id: str) -> None:
        try:
            text = session.forks.words_of(message_id)
        except UserError as error:
            self.hints.show(str(error))
            return
        draft = self._again.draft if self._again else self.prompt.whole_text
        self._again = _Again(message_id, draft)
        self.prompt.show_draft(self.prompt.chips.short(text))
        self.set_focus(self.prompt)
        if self._again_line is None:
            self._again_line = Static(id="again", markup=False)
            self.mount(self._again_line, before="#composer")
        words = named(self, SENT_IN_A_FORK, Context.SESSION)
        self._again_line.update(Content.styled(words, "$text-warning"))
        self._again_line.display = True

    def _end_again(self) -> None:
        again, self._again = self._again, None
        if self._again_line is not None:
            self._again_line.display = False
        if again is not None:
            self.prompt.show_draft(self.prompt.chips.short(again.draft))

    async def _send_in_fork(self, session: "Session", message_id: str, text: str) -> None:
        try:
            forked = await session.forks.fork(message_id)
        except UserError as error:
            self.hints.show(str(error))
            self.prompt.put_back((text,))
        else:
            await self.app.run_action(f"app.start_session({forked.session_id!r}, {forked.told!r}, {text!r})")
