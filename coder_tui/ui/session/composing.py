"""Everything around writing a message: completion, commands, the editor, earlier messages."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from textual import events
from textual.screen import Screen
from textual.worker import Worker

from coder_tui.protocol.errors import UserError
from coder_tui.ui.launch import Launch
from coder_tui.ui.prompt.completer import Completer, Sources
from coder_tui.ui.prompt.completion_list import CompletionAnchor, CompletionList
from coder_tui.ui.prompt.prompt import Prompt
from coder_tui.ui.prompt.sources import CommandSource, FileSource, HistorySource
from coder_tui.ui.session.shell_line import ShellLine
from coder_tui.ui.session.slash import SlashCommands

if TYPE_CHECKING:
    from coder_tui.agent.session import Session


class Composing:
    """Part of a session screen; `directory` tells the session's folder, `say` shows a sentence."""

    def __init__(
        self,
        screen: Screen[None],
        prompt: Prompt,
        popup: CompletionList,
        commands: SlashCommands,
        shell: ShellLine,
        launch: Launch,
        directory: Callable[[], Path],
        say: Callable[[str], None],
    ) -> None:
        self._screen = screen
        self._prompt = prompt
        self.commands = commands
        self.shell = shell
        self._launch = launch
        self._say = say
        self.anchor = CompletionAnchor(popup)
        self.files = FileSource(directory, commands.resources)
        sources = Sources(
            self.files,
            CommandSource(commands.offered),
            HistorySource(lambda: prompt.sent.entries),
        )
        self.completer = Completer(prompt, popup, sources)
        self._editing: Worker[None] | None = None

    async def take(self, event: events.Key | events.Paste) -> bool:
        """Whether the key was meant for the suggestions over the prompt."""
        return self._screen.focused is self._prompt and await self.completer.take(event)

    def takes(self, text: str) -> bool:
        """Whether what was entered is a command, of the program or for the shell, and no message."""
        return self.commands.take(text) or self.shell.take(text)

    async def recall(self, session: "Session") -> None:
        """Offer what was sent in this folder before."""
        try:
            self._prompt.sent.seed(await session.facts.sent_before())
        except UserError as error:
            self._say(str(error))

    def edit(self) -> None:
        """Write the draft in the person's own editor."""
        if self._editing is None or self._editing.is_finished:
            self._editing = self._screen.run_worker(self._edit(), group="compose")

    async def stop(self) -> None:
        """The program is about to end: no editor may keep the terminal, nothing runs on."""
        if self._editing is not None and not self._editing.is_finished:
            self._editing.cancel()
        while self.shell.stop():
            pass
        await self.completer.close()

    async def _edit(self) -> None:
        from coder_tui.protocol.requests import Editable
        from coder_tui.ui.external_editor import UNCHANGED, Edited, ExternalEditor, NoEditor, NotEdited

        editor = ExternalEditor(os.environ, self._launch.edits, self._launch.directory)
        draft = Editable("message", self._prompt.whole_text, ".md")
        match await editor.edit(self._screen.app, draft):
            case Edited(text):
                self._prompt.show_draft(self._prompt.chips.short(text))
            case NotEdited(reason) if reason == UNCHANGED.reason:
                pass
            case NotEdited(reason) | NoEditor(reason):
                self._say(reason)
