"""Opens the lists and reports of the session screen: sessions, models, files, jobs, servers, trust."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UserError
from coder_tui.text.safe_text import safe_text
from coder_tui.ui.session.body import NOT_YET

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.ui.lists.picker import PickerScreen
    from coder_tui.ui.session.parts import SessionWidgets
    from coder_tui.ui.session.screen import SessionScreen


SAVE = "--save"
NOTHING_TO_TRUST = "There is nothing to decide here. 'coder-tui trust' shows earlier decisions."
FROM_NOW_ON = "Your decision applies to sessions that start from now on."
LISTS = (
    *("sessions", "models", "modes", "agents", "skills", "themes"),
    *("files", "jobs", "lsp", "mcp", "trust", "doctor"),
)


class SessionLists:
    """Opens what a key or a slash command names; each list is imported when it is first opened."""

    def __init__(self, screen: "SessionScreen", widgets: "SessionWidgets") -> None:
        self._screen = screen
        self._widgets = widgets
        self._jobs_before: frozenset[str] = frozenset()

    def open(self, name: str, query: str = "") -> None:
        """Open a list; `query` is what to look for in it."""
        session = self._widgets.sender.session
        anytime: dict[str, Callable[[], None]] = {
            "themes": lambda: self._themes(query),
            "files": lambda: self._files(query),
            "doctor": self._doctor,
            "trust": lambda: self._report("trust", self._ask_for_trust),
        }
        if name in anytime:
            anytime[name]()
        elif session is None:
            self._widgets.hints.show(NOT_YET)
        else:
            {
                "sessions": lambda: self._sessions(session, query),
                "models": lambda: self._models(session, query),
                "modes": lambda: self._modes(session),
                "agents": lambda: self._agents(session),
                "skills": lambda: self._skills(session),
                "jobs": lambda: self._jobs(session),
                "lsp": lambda: self._lsp(session),
                "mcp": lambda: self._mcp(session),
            }[name]()

    def _choose(self, picker: "PickerScreen", use: Callable[[str], object]) -> None:
        """Show a list; `use` gets the choice, unless the user closes it."""

        def chosen(choice: str | None) -> None:
            if choice is not None:
                use(choice)

        self._screen.app.push_screen(picker, chosen)

    def _report(self, group: str, work: Callable[[], Awaitable[str]]) -> None:
        """Do something in the background and show the sentence that it returns, or its error."""

        async def report() -> None:
            try:
                sentence = await work()
            except UserError as error:
                sentence = str(error)
            self._widgets.hints.show(sentence)

        self._screen.run_worker(report(), group=group, exclusive=True)

    def _sessions(self, session: "Session", query: str) -> None:
        from coder_tui.ui.lists.sessions import SessionsScreen

        chrome, library = self._screen.chrome, self._screen.launch.library()
        picker = SessionsScreen(chrome, library, session.id, session.directory, query)
        self._choose(picker, self._screen.switch().start)

    def _models(self, session: "Session", name: str) -> None:
        from coder_tui.ui.lists.choosers import ModelsScreen

        picker = ModelsScreen(self._screen.chrome, self._screen.launch.library(), session.model, name)

        def chosen(model: str | None) -> None:
            if picker.key_notice:
                self._widgets.hints.show(picker.key_notice)
            if model is not None:
                self._report("model", partial(self._use_model, model))

        self._screen.app.push_screen(picker, chosen)

    async def _use_model(self, name: str) -> str:
        await self._screen.launch.library().use_model(name)
        return f"{name} answers {'from the next turn on' if self._widgets.sender.is_busy else 'now'}."

    def _themes(self, argument: str) -> None:
        """`argument` may be a name, `--save`, or both."""
        from coder_tui.ui.lists.choosers import ThemesScreen
        from coder_tui.ui.themes import own_themes

        names = own_themes(self._screen.app)
        is_saved = SAVE in argument.split()
        name = " ".join(word for word in argument.split() if word != SAVE)
        if not name and is_saved:
            name = self._screen.app.theme
        if name in names:
            self._screen.app.theme = name
            self._theme_chosen(f"{SAVE} {name}" if is_saved else name)
        else:
            picker = ThemesScreen(self._screen.chrome, names, self._screen.app.theme, name)
            self._choose(picker, self._theme_chosen)

    def _theme_chosen(self, choice: str) -> None:
        if choice.startswith(SAVE):
            self._report("theme", partial(self._save_theme, choice.removeprefix(SAVE).strip()))

    async def _save_theme(self, name: str) -> str:
        return f"{name} is saved in {await self._screen.launch.keep_theme(name)}."

    def _modes(self, session: "Session") -> None:
        from coder_tui.ui.lists.choosers import ModesScreen

        picker = ModesScreen(self._screen.chrome, session.mode)
        self._choose(picker, lambda mode: self._widgets.sender.set_mode(Mode(mode)))

    def _agents(self, session: "Session") -> None:
        from coder_tui.ui.lists.choosers import AgentsScreen

        agents = ((profile.name, profile.description) for profile in session.profiles.known.leading)
        picker = AgentsScreen(self._screen.chrome, agents, session.profiles.current.name)
        self._choose(picker, session.profiles.use)

    def _skills(self, session: "Session") -> None:
        from coder_tui.ui.lists.choosers import SkillsScreen

        async def show() -> None:
            await asyncio.to_thread(session.report.skills.refresh)
            picker = SkillsScreen(self._screen.chrome, session.report.skills)
            self._choose(picker, lambda name: self._screen.prompt.put_back((f"/{name} ",)))

        self._screen.run_worker(show(), group="skills", exclusive=True)

    def _files(self, query: str) -> None:
        from coder_tui.ui.lists.choosers import FilesScreen

        def edit(path: str) -> None:
            self._widgets.reader.open_place(path, 1, 1)

        files = self._widgets.composing.files
        self._screen.app.push_screen(FilesScreen(self._screen.chrome, files, self._insert_file, edit, query))

    def _insert_file(self, path: str) -> None:
        """Insert the file's name at the cursor, with a blank on both sides."""
        from coder_tui.text.mentions import mention  # the first paint names no file

        row, column = self._screen.prompt.cursor_location
        before = self._screen.prompt.document.get_line(row)[:column]
        gap = " " if before and not before[-1].isspace() else ""
        self._screen.prompt.type_text(f"{gap}{mention(path)} ")
        self._screen.set_focus(self._screen.prompt)

    def _lsp(self, session: "Session") -> None:
        from coder_tui.ui.lists.servers import LspScreen

        self._screen.app.push_screen(LspScreen(self._screen.chrome, session, self._widgets.reader.read_text))

    def _mcp(self, session: "Session") -> None:
        from coder_tui.ui.lists.servers import McpScreen

        read = self._widgets.reader.read_text
        self._screen.app.push_screen(McpScreen(self._screen.chrome, session.mcp.pool, read))

    def _jobs(self, session: "Session") -> None:
        from coder_tui.ui.lists.background import JobsScreen

        read = self._widgets.reader.read_text
        self._screen.app.push_screen(JobsScreen(self._screen.chrome, session.jobs, read))

    def follow_jobs(self, session: "Session") -> Callable[[], None]:
        """Show the number of jobs from now on; return a function that ends it."""
        self._jobs_changed(session)
        return session.jobs.watch(lambda: self._jobs_changed(session))

    def _jobs_changed(self, session: "Session") -> None:
        """Show how many jobs run, and report each that ended."""
        states = session.jobs.states()
        self._screen.status.show(jobs=sum(state.is_running for state in states))
        for state in states:
            if state.id in self._jobs_before and not state.is_running:
                self._widgets.hints.show(f"{state.id} ended with exit code {state.exit_code}.")
        self._jobs_before = frozenset(state.id for state in states if state.is_running)

    def _doctor(self) -> None:
        async def read() -> None:
            try:
                report = await self._screen.launch.doctor()
            except UserError as error:
                self._widgets.hints.show(str(error))
            else:
                self._widgets.reader.read_text("/doctor", safe_text(report))

        self._widgets.hints.show("Checking …")
        self._screen.run_worker(read(), group="doctor", exclusive=True)

    async def _ask_for_trust(self) -> str:
        from coder_tui.ui.requests.trust import ask_for_trust

        if await self._screen.launch.trust.question() is None:
            return NOTHING_TO_TRUST
        await ask_for_trust(self._screen.app, self._screen, self._screen.launch)
        return FROM_NOW_ON
