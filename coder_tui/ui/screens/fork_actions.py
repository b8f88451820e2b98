"""An earlier message of the person's is edited and sent again, in a fork that ends before it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from coder_tui.protocol.errors import UserError
from coder_tui.ui.key_names import named
from coder_tui.ui.keys import Context
from coder_tui.ui.screens.furnished import Furnished

if TYPE_CHECKING:  # loaded with the session, behind the first paint
    from coder_tui.agent.session import Session

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
