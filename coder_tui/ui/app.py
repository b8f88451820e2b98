"""The app around the screens: themes, the session, global keys, and leaving."""

import asyncio
import gc
import time
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import App
from textual.screen import Screen

from coder_tui.protocol.errors import UserError
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.ui.exit import AppExit, SurvivingApp, last_words
from coder_tui.ui.glyphs import chrome
from coder_tui.ui.keymap import KeyFirstScreen, TypeAhead, Typed
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.launch import Launch
from coder_tui.ui.session.screen import SessionScreen
from coder_tui.ui.textual_internals import ParsedOnce
from coder_tui.ui.themes import DEFAULT_THEME, Themes, first_theme, load_themes

if TYPE_CHECKING:
    from coder_tui.ui.session_switch import SessionSwitch


class CoderApp(SurvivingApp, App[int], inherit_bindings=False):
    """The full-screen program; runs until the user leaves."""

    TITLE = "coder-tui"
    # A default screen does not load its own sheet: Textual does so only for screens that are pushed.
    CSS_PATH: ClassVar = ["coder.tcss", "session/session.tcss"]
    BINDINGS = bindings(Context.GLOBAL)

    def __init__(self, launch: Launch) -> None:
        self._themes = first_theme(launch.theme, launch.theme_directory)
        self._launch = launch
        super().__init__()
        self.stylesheet = ParsedOnce(variables=self.get_css_variables())
        self.animation_level = "none"
        self.set_class(launch.use_ascii, "-ascii")
        self._signs = chrome(use_ascii=launch.use_ascii)
        self.session_screen = SessionScreen(launch, time.monotonic, lambda: self.switch)
        self._use(self._themes)
        self.early_keys = TypeAhead(self.on_event)
        self.app_exit = AppExit(self, self.session_screen, launch)

    def get_default_screen(self) -> Screen[None]:
        return self.session_screen

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Use colors of the default theme for names that a user's theme lacks."""
        return next(theme.variables for theme in self._themes.themes if theme.name == DEFAULT_THEME)

    def on_mount(self) -> None:
        self.set_keymap(dict(self._launch.keys.changed))
        self.app_exit.watch()
        self.call_after_refresh(self._painted)

    async def on_event(self, event: events.Event) -> None:
        # Not in a widget: a burst of keys would wait in a dialog's queue before the first of them closes it.
        if isinstance(event, Typed) and not event.is_forwarded:
            with self.leaving_what_fails(event):
                if await self._handle_input(event):
                    return
        await super().on_event(event)

    def on_resize(self) -> None:
        # A terminal that shrank and grew back within a frame lost what it showed, though no widget changed.
        self.screen.refresh()

    def on_app_focus(self) -> None:
        if isinstance(self.screen, KeyFirstScreen):
            self.screen.rearm()

    def action_help(self) -> None:
        from coder_tui.ui.lists.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            context = self.screen.help_context if isinstance(self.screen, KeyFirstScreen) else Context.GLOBAL
            self.push_screen(HelpScreen(self._signs, self._launch.keys.rows, context))

    def action_command_palette(self) -> None:
        from coder_tui.ui.lists.help import PaletteScreen, palette_entries

        if not isinstance(self.screen, PaletteScreen):
            entries = palette_entries(self, self._launch.keys.rows, self.session_screen)
            self.push_screen(PaletteScreen(self._signs, entries))

    def action_repaint(self) -> None:
        self.screen.refresh(repaint=True, layout=True)

    @cached_property
    def switch(self) -> "SessionSwitch":
        from coder_tui.ui.session_switch import SessionSwitch

        return SessionSwitch(self, self._launch)

    def action_start_session(self) -> None:
        self.switch.start()

    async def action_quit(self) -> None:
        await self.app_exit.leave(0)

    def report_error(self, line: str) -> None:
        if self.session_screen.is_fully_mounted:
            self.session_screen.transcript.add_note(NoticeLevel.ERROR, line)

    async def _handle_input(self, event: Typed) -> bool:
        if self.early_keys.keeps(event):
            return True
        self.app_focus = True
        # Without a screen the program is ending: drop the event.
        top = self.screen_stack[-1] if self.screen_stack else None
        return top is None or (isinstance(top, KeyFirstScreen) and await top.handle_input(event))

    async def _painted(self) -> None:
        if self.focused is None and self.app_focus:
            self.call_after_refresh(self._painted)
            return
        await self.early_keys.release_letters()
        # What was typed shows first: opening a session imports half of the program.
        self.set_timer(0.02, lambda: self.run_worker(self.end_if_fails(self._open_session()), group="open"))

    async def _open_session(self) -> None:
        from coder_tui.ui.first_run import open_first

        await self.session_screen.mount_rest()
        self.call_later(self.early_keys.release_all)
        try:
            session = await open_first(self, self.session_screen, self._launch)
        except UserError as error:
            self.exit(error.exit_code, error.exit_code, last_words(error))
            return
        self.session_screen.attach(session)
        self._use(await asyncio.to_thread(load_themes, self._launch.theme_directory))
        unknown = () if self.theme == self._launch.theme else (f"There is no theme {self._launch.theme}.",)
        for problem in self._launch.keys.problems + self._themes.problems + unknown:
            self.session_screen.transcript.add_note(NoticeLevel.WARNING, problem)
        # Excluded from collection, since it lives until the end: a full one stalls the screen.
        # Before a session is open there is none, because it would find nothing.
        gc.freeze()
        gc.enable()

    def _use(self, themes: Themes) -> None:
        self._themes = themes
        for theme in themes.themes:
            self.register_theme(theme)
        self.theme = self._launch.theme if self._launch.theme in self.available_themes else DEFAULT_THEME
