"""Keys of the session that open a list to choose from."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UserError
from coder_tui.ui.screens.furnished import Furnished
from coder_tui.ui.shelf import Shelf

if TYPE_CHECKING:  # loaded with the session, behind the first paint
    from coder_tui.skills.shelf import SkillShelf

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
        from coder_tui.ui.screens.sessions import SessionsScreen

        picker = SessionsScreen(self.chrome, self.shelf(), session.id, session.directory, query)
        self.app.push_screen(picker, self._session_chosen)

    def action_models(self, name: str = "") -> None:
        session = self.conversation.session
        if session is None:
            self.hints.show(NOT_YET)
            return
        from coder_tui.ui.screens.models import ModelsScreen

        picker = ModelsScreen(self.chrome, self.shelf(), session.model, name)
        self.app.push_screen(picker, lambda model: self._model_chosen(model, picker.told))

    def action_themes(self, wish: str = "") -> None:
        """`wish` may be a name, and `--save` beside it or alone."""
        from coder_tui.ui.screens.themes_picker import ThemesScreen
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
        from coder_tui.ui.screens.modes import ModesScreen

        self.app.push_screen(ModesScreen(self.chrome, session.mode), self._mode_chosen)

    def action_agents(self) -> None:
        session = self.conversation.session
        if session is None:
            self.hints.show(NOT_YET)
            return
        from coder_tui.ui.screens.agents import AgentsScreen

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
        from coder_tui.ui.screens.skills import SkillsScreen

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
