"""Keys of the session that open a list to choose from.

Keys of the session that look at what it works with: files, and commands in the background.

What a person can ask of the program itself: is all well, and what does the project bring along.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UserError
from coder_tui.text.safe_text import safe_text
from coder_tui.ui.launch import Shelf
from coder_tui.ui.session.base import Furnished

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.skills.session_skills import SkillShelf


SAVE = "--save"
NOT_YET = "The session is still being opened."


class PickerActions(Furnished):
    """Part of a screen: another part makes the widgets. The lists are loaded when they are asked for."""

    shelf: Callable[[], Shelf]

    def action_sessions(self, query: str = "") -> None:
        session = self.conversation.session
        if session is None:
            self.hints.show(NOT_YET)
            return
        from coder_tui.ui.lists.sessions import SessionsScreen

        picker = SessionsScreen(self.chrome, self.shelf(), session.id, session.directory, query)
        self.app.push_screen(picker, self._session_chosen)

    def action_models(self, name: str = "") -> None:
        session = self.conversation.session
        if session is None:
            self.hints.show(NOT_YET)
            return
        from coder_tui.ui.lists.models import ModelsScreen

        picker = ModelsScreen(self.chrome, self.shelf(), session.model, name)
        self.app.push_screen(picker, lambda model: self._model_chosen(model, picker.told))

    def action_themes(self, wish: str = "") -> None:
        """`wish` may be a name, and `--save` beside it or alone."""
        from coder_tui.ui.lists.choosers import ThemesScreen
        from coder_tui.ui.themes import own_themes

        names = own_themes(self.app)
        is_for_good = SAVE in wish.split()
        name = " ".join(word for word in wish.split() if word != SAVE)
        if not name and is_for_good:
            name = self.app.theme
        if name in names:
            self.app.theme = name
            self._theme_chosen(f"{SAVE} {name}" if is_for_good else name)
        else:
            picker = ThemesScreen(self.chrome, names, self.app.theme, name)
            self.app.push_screen(picker, self._theme_chosen)

    def _theme_chosen(self, choice: str | None) -> None:
        if choice is not None and choice.startswith(SAVE):
            name = choice.removeprefix(SAVE).strip()
            self.run_worker(self._keep_theme(name), group="theme", exclusive=True)

    async def _keep_theme(self, name: str) -> None:
        try:
            file = await self.launch.keep_theme(name)
        except UserError as error:
            self.hints.show(str(error))
        else:
            self.hints.show(f"{name} is in {file} now.")

    def action_modes(self) -> None:
        session = self.conversation.session
        if session is None:
            self.hints.show(NOT_YET)
            return
        from coder_tui.ui.lists.choosers import ModesScreen

        self.app.push_screen(ModesScreen(self.chrome, session.mode), self._mode_chosen)

    def action_agents(self) -> None:
        session = self.conversation.session
        if session is None:
            self.hints.show(NOT_YET)
            return
        from coder_tui.ui.lists.choosers import AgentsScreen

        agents = ((profile.name, profile.description) for profile in session.profiles.known.leading)
        picker = AgentsScreen(self.chrome, agents, session.profiles.current.name)
        self.app.push_screen(picker, self._agent_chosen)

    def action_skills(self) -> None:
        session = self.conversation.session
        if session is None:
            self.hints.show(NOT_YET)
            return
        self.run_worker(self._show_skills(session.facts.skills), group="skills", exclusive=True)

    async def _show_skills(self, shelf: "SkillShelf") -> None:
        from coder_tui.ui.lists.choosers import SkillsScreen

        await asyncio.to_thread(shelf.refresh)
        self.app.push_screen(SkillsScreen(self.chrome, shelf), self._skill_chosen)

    async def _session_chosen(self, session_id: str | None) -> None:
        if session_id is not None:
            await self.app.run_action(f"app.start_session({session_id!r})")

    def _model_chosen(self, name: str | None, told: str = "") -> None:
        if told:
            self.hints.show(told)
        if name is not None:
            self.run_worker(self._use_model(name), group="model", exclusive=True)

    def _mode_chosen(self, mode: str | None) -> None:
        if mode is not None:
            self.conversation.set_mode(Mode(mode))

    def _agent_chosen(self, name: str | None) -> None:
        if name is not None and (session := self.conversation.session) is not None:
            session.profiles.use(name)

    def _skill_chosen(self, name: str | None) -> None:
        if name is not None:
            self.prompt.put_back((f"/{name} ",))

    async def _use_model(self, name: str) -> None:
        try:
            await self.shelf().use_model(name)
        except UserError as error:
            self.hints.show(str(error))
        else:
            from_when = "from the next turn on" if self.conversation.is_busy else "now"
            self.hints.show(f"{name} answers {from_when}.")


class WorkActions(Furnished):
    """Part of a screen: another part makes the widgets. The lists are loaded when they are asked for."""

    _jobs_before: frozenset[str] = frozenset()

    def action_files(self, query: str = "") -> None:
        from coder_tui.ui.lists.files import FilesScreen

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
        from coder_tui.ui.lists.jobs import JobsScreen

        self.app.push_screen(JobsScreen(self.chrome, session.jobs, self.reader.read_text))

    def action_lsp(self) -> None:
        session = self.conversation.session
        if session is None:
            self.hints.show(NOT_YET)
            return
        from coder_tui.ui.lists.servers import LspScreen

        self.app.push_screen(LspScreen(self.chrome, session, self.reader.read_text))

    def action_mcp(self) -> None:
        session = self.conversation.session
        if session is None:
            self.hints.show(NOT_YET)
            return
        from coder_tui.ui.lists.servers import McpScreen

        self.app.push_screen(McpScreen(self.chrome, session.mcp.pool, self.reader.read_text))

    def _jobs_changed(self, session: "Session") -> None:
        """How many run stands in the status; the end of one is said."""
        states = session.jobs.states()
        self.status.show(jobs=sum(state.is_running for state in states))
        for state in states:
            if state.id in self._jobs_before and not state.is_running:
                self.hints.show(f"{state.id} has ended with exit code {state.exit_code}.")
        self._jobs_before = frozenset(state.id for state in states if state.is_running)


NOTHING_TO_TRUST = "There is nothing to decide on here; 'coder-tui trust' shows what was decided."
FROM_NOW_ON = "What you decided holds for sessions that begin from now on."


class ReportActions(Furnished):
    """Part of a screen: another part makes the widgets."""

    def action_doctor(self) -> None:
        self.hints.show("Looking …")
        self.run_worker(self._examine(), group="doctor", exclusive=True)

    def action_trust(self) -> None:
        self.run_worker(self._ask_for_trust(), group="trust", exclusive=True)

    async def _examine(self) -> None:
        try:
            report = await self.launch.doctor()
        except UserError as error:
            self.hints.show(str(error))
        else:
            self.reader.read_text("/doctor", safe_text(report))

    async def _ask_for_trust(self) -> None:
        # Only here: the dialog and this screen know each other.
        from coder_tui.ui.requests.trust import ask_for_trust
        from coder_tui.ui.session.screen import SessionScreen

        try:
            question = await self.launch.trust.question()
        except UserError as error:
            self.hints.show(str(error))
            return
        if question is None or not isinstance(self, SessionScreen):
            self.hints.show(NOTHING_TO_TRUST)
            return
        await ask_for_trust(self.app, self, self.launch)
        self.hints.show(FROM_NOW_ON)
