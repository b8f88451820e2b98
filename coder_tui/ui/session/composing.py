"""Writing a message: completion, the editor, earlier messages, and sending one of those again in a fork."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events
from textual.content import Content
from textual.widgets import Static

from coder_tui.protocol.errors import UserError
from coder_tui.protocol.requests import Editable
from coder_tui.ui.external_editor import UNCHANGED, Edited, NoEditor, NotEdited
from coder_tui.ui.keymap import named
from coder_tui.ui.keys import Context
from coder_tui.ui.prompt.completer import Completer, FileSource
from coder_tui.ui.prompt.completion_list import CompletionAnchor, CompletionList
from coder_tui.ui.session.body import BUSY, NOT_YET
from coder_tui.ui.session.slash import ShellLine, SlashCommands

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.ui.session.parts import SessionWidgets
    from coder_tui.ui.session.screen import SessionScreen


NOT_YOURS = "Mark one of your messages first: J and K move between them."
SENT_IN_A_FORK = "Enter sends this in a fork; this session stays as it is. Esc cancels."


class Composing:
    """Serves one session screen."""

    def __init__(self, screen: "SessionScreen", widgets: "SessionWidgets") -> None:
        self._screen = screen
        self._prompt = screen.prompt
        self._widgets = widgets
        self.commands = SlashCommands(screen, widgets)
        self.shell = ShellLine(screen, widgets)
        popup = CompletionList(screen.chrome)
        self.anchor = CompletionAnchor(popup)
        self.files = FileSource(lambda: screen.directory, self.commands.resources)
        self.completer = Completer(screen.prompt, popup, self.files, self.commands.offered)

    async def handle_input(self, event: events.Key | events.Paste) -> bool:
        """Return whether the key was meant for the suggestions above the prompt."""
        return self._screen.focused is self._prompt and await self.completer.handle_input(event)

    def run_line(self, text: str) -> bool:
        """Run a slash command or a shell command; return False for a message."""
        return self.commands.run_line(text) or self.shell.run_line(text)

    async def recall(self, session: "Session") -> None:
        """Add what was sent in this folder before to the history of the prompt."""
        try:
            self._prompt.sent.seed(await session.report.sent_before())
        except UserError as error:
            self._widgets.hints.show(str(error))

    def edit(self) -> None:
        """Open the draft in the user's editor."""
        self._widgets.reader.start_editor(self._edit)

    async def stop(self) -> None:
        """Stop commands and the completer before the program ends."""
        while self.shell.stop():
            pass
        await self.completer.close()

    async def _edit(self) -> None:
        draft = Editable("message", self._prompt.whole_text, ".md")
        match await self._widgets.reader.editor.edit(self._screen.app, draft):
            case Edited(text):
                self._prompt.show_draft(self._prompt.chips.short(text))
            case NotEdited(reason) if reason == UNCHANGED.reason:
                pass
            case NotEdited(reason) | NoEditor(reason):
                self._widgets.hints.show(reason)


@dataclass(frozen=True, slots=True)
class _EditedMessage:
    """The message that is edited, and the draft that it replaced in the prompt."""

    message_id: str
    draft: str


class ForkEditor:
    """Edits an earlier message of the user and sends it again, in a fork that ends before it."""

    def __init__(self, screen: "SessionScreen", widgets: "SessionWidgets") -> None:
        self._screen = screen
        self._prompt = screen.prompt
        self._widgets = widgets
        self._edited: _EditedMessage | None = None
        self._banner: Static | None = None

    def start(self) -> None:
        """Put the marked message into the prompt, or say why not."""
        session, message_id = self._widgets.sender.session, self._widgets.transcript.view.marked_message
        if session is None:
            self._widgets.hints.show(NOT_YET)
        elif self._widgets.sender.is_busy:
            self._widgets.hints.show(named(self._screen, BUSY, Context.SESSION))
        elif not message_id:
            self._widgets.hints.show(named(self._screen, NOT_YOURS, Context.TRANSCRIPT))
        else:
            self._edit(session, message_id)

    def submit(self, text: str) -> bool:
        """Send the text in a fork; return False if no earlier message is being edited."""
        edited, session = self._edited, self._widgets.sender.session
        if edited is None or session is None:
            return False
        self._end()
        self._screen.run_worker(self._send_in_fork(session, edited.message_id, text), group="fork")
        return True

    def cancel(self) -> bool:
        """Bring the draft back; return False if no earlier message is being edited."""
        if self._edited is None:
            return False
        self._end()
        return True

    def prompt_changed(self) -> None:
        """End the editing if the prompt was emptied."""
        if self._edited is not None and self._prompt.is_empty:
            self._end()

    def _edit(self, session: "Session", message_id: str) -> None:
        try:
            text = session.forks.text_of(message_id)
        except UserError as error:
            self._widgets.hints.show(str(error))
            return
        draft = self._edited.draft if self._edited else self._prompt.whole_text
        self._edited = _EditedMessage(message_id, draft)
        self._prompt.show_draft(self._prompt.chips.short(text))
        self._screen.set_focus(self._prompt)
        if self._banner is None:
            self._banner = Static(id="again", markup=False)
            self._screen.mount(self._banner, before="#composer")
        sentence = named(self._screen, SENT_IN_A_FORK, Context.SESSION)
        self._banner.update(Content.styled(sentence, "$text-warning"))
        self._banner.display = True

    def _end(self) -> None:
        edited, self._edited = self._edited, None
        if self._banner is not None:
            self._banner.display = False
        if edited is not None:
            self._prompt.show_draft(self._prompt.chips.short(edited.draft))

    async def _send_in_fork(self, session: "Session", message_id: str, text: str) -> None:
        try:
            forked = await session.forks.fork(message_id)
        except UserError as error:
            self._widgets.hints.show(str(error))
            self._prompt.put_back((text,))
        else:
            self._screen.switch().start(forked.session_id, forked.notice, text)
