"""Keys of the session that look at what it works with: files, and commands in the background."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from coder_tui.ui.screens.furnished import Furnished

if TYPE_CHECKING:  # the first paint does not need the agent
    from coder_tui.agent.session import Session

NOT_YET = "The session is still being opened."


class WorkActions(Furnished):
    """Part of a screen: another part makes the widgets. The lists are loaded when they are asked for."""

    _jobs_before: frozenset[str] = frozenset()

    def action_files(self, query: str = "") -> None:
        from coder_tui.ui.screens.files_picker import FilesScreen

        def edit(path: str) -> None:
            self.reader.open_place(path, 1, 1)

        picker = FilesScreen(self.chrome, self.composing.files, self._name_file, edit, query)
        self.app.push_screen(picker)

    def _name_file(self, path: str) -> None:
        """At the cursor, with a blank on both sides."""
        from coder_tui.text.mentions import mention  # the first paint names no file

        row, column = self.prompt.cursor_location
        before = self.prompt.document.get_line(row)[:column]
        gap = " " if before and not before[-1].isspace() else ""
        self.prompt.type_text(f"{gap}{mention(path)} ")
        self.set_focus(self.prompt)

    def follow_jobs(self, session: "Session") -> Callable[[], None]:
        """What is returned ends it."""
        self._jobs_changed(session)
        return session.jobs.watch(lambda: self._jobs_changed(session))

    def action_jobs(self) -> None:
        session = self.conversation.session
        if session is None:
            self.hints.show(NOT_YET)
            return
        from coder_tui.ui.screens.jobs import JobsScreen

        self.app.push_screen(JobsScreen(self.chrome, session.jobs, self.reader.read_text))

    def action_lsp(self) -> None:
        session = self.conversation.session
        if session is None:
            self.hints.show(NOT_YET)
            return
        from coder_tui.ui.screens.lsp import LspScreen

        self.app.push_screen(LspScreen(self.chrome, session, self.reader.read_text))

    def action_mcp(self) -> None:
        session = self.conversation.session
        if session is None:
            self.hints.show(NOT_YET)
            return
        from coder_tui.ui.screens.mcp import McpScreen

        self.app.push_screen(McpScreen(self.chrome, session.mcp.pool, self.reader.read_text))

    def _jobs_changed(self, session: "Session") -> None:
        """How many run stands in the status; the end of one is said."""
        states = session.jobs.states()
        self.status.show(jobs=sum(state.is_running for state in states))
        for state in states:
            if state.id in self._jobs_before and not state.is_running:
                self.hints.show(f"{state.id} has ended with exit code {state.exit_code}.")
        self._jobs_before = frozenset(state.id for state in states if state.is_running)
