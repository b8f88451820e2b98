"""Saving a theme: only if the user asks for it, and in the user's own file."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace

from coder_tui.protocol.errors import ConfigError
from coder_tui.ui.lists.choosers import ThemesScreen
from coder_tui.ui.themes import own_themes
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for, stage


@dataclass
class Settings:
    kept: list[str] = field(default_factory=list)
    is_broken: bool = False

    async def keep(self, name: str) -> str:
        if self.is_broken:
            raise ConfigError("cannot write ~/config.toml: No space left on device")
        self.kept.append(name)
        return "~/config.toml"


def themed(settings: Settings) -> AbstractAsyncContextManager[Stage]:
    session = FakeSession()
    return stage(session, launch=replace(launch_for(session), keep_theme=settings.keep))


async def all_loaded(s: Stage) -> None:
    await s.until(lambda: "gruvbox" in own_themes(s.app))


async def test_a_command_changes_the_theme_and_saves_it_only_if_asked() -> None:
    settings = Settings()
    async with themed(settings) as s:
        await all_loaded(s)
        await s.pilot.press(*"/theme gruvbox", "enter")
        await s.until(lambda: s.app.theme == "gruvbox")
        assert settings.kept == []
        await s.pilot.press(*"/theme nord --save", "enter")
        await s.shows("nord is saved in ~/config.toml.")
        assert (s.app.theme, settings.kept) == ("nord", ["nord"])
        await s.pilot.press(*"/theme --save", "enter")
        await s.until(lambda: settings.kept == ["nord", "nord"])


async def test_a_key_of_the_list_saves_the_theme() -> None:
    settings = Settings()
    async with themed(settings) as s:
        await all_loaded(s)
        await s.app.run_action("screen.run('themes')")
        await s.until(lambda: isinstance(s.app.screen, ThemesScreen) and s.app.screen.list.marked is not None)
        await s.pilot.press(*"gruv", "ctrl+y")
        await s.until(lambda: settings.kept == ["gruvbox"])
        await s.until(lambda: s.app.screen is s.screen)
        assert s.app.theme == "gruvbox"


async def test_a_failed_write_is_reported() -> None:
    async with themed(Settings(is_broken=True)) as s:
        await all_loaded(s)
        await s.pilot.press(*"/theme nord --save", "enter")
        await s.shows("No space left on device")
        assert s.app.theme == "nord"
