"""Lists to choose from: sessions, models, themes, modes, commands and help."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import cast

import pytest
from textual import events

from coder_tui.agent.session import Session
from coder_tui.protocol.access import Mode
from coder_tui.protocol.events import MessageFinished, UserMessageAdded
from coder_tui.ui.keys import KEYS
from coder_tui.ui.lists.choosers import AgentsScreen, ModelsScreen, ModesScreen, ThemesScreen
from coder_tui.ui.lists.help import HelpScreen, PaletteScreen
from coder_tui.ui.lists.picker import PickerScreen
from coder_tui.ui.lists.sessions import SessionsScreen, age
from tests.fakes.fake_session import FakeSession
from tests.fakes.library import FakeLibrary, stored
from tests.fakes.screens import Stage, launch_for, stage

OPENERS: dict[str, type[PickerScreen]] = {
    "screen.run('sessions')": SessionsScreen,
    "screen.run('models')": ModelsScreen,
    "screen.run('modes')": ModesScreen,
    "screen.run('agents')": AgentsScreen,
    "screen.run('themes')": ThemesScreen,
    "app.command_palette": PaletteScreen,
    "app.help": HelpScreen,
}


@asynccontextmanager
async def with_library(library: FakeLibrary, size: tuple[int, int] = (100, 30)) -> AsyncIterator[Stage]:
    session = FakeSession()
    async with stage(session, size, replace(launch_for(session), library=lambda: library)) as s:
        yield s


async def opened(s: Stage, action: str) -> PickerScreen:
    await s.app.run_action(action)
    await s.until(lambda: isinstance(s.app.screen, OPENERS[action]))
    top = s.app.screen
    assert isinstance(top, PickerScreen)
    await s.until(lambda: top.list.marked is not None)
    await s.pilot.pause()
    return top


def marked(picker: PickerScreen) -> str | None:
    return picker.list.marked.key if picker.list.marked else None


@pytest.mark.parametrize("action", OPENERS)
async def test_escape_closes_every_list_and_restores_draft_and_focus(action: str) -> None:
    async with with_library(FakeLibrary(stored("a1", "one"))) as s:
        await s.pilot.press(*"dra ft")
        theme = s.app.theme
        await opened(s, action)
        await s.pilot.press("down", "escape")
        await s.until(lambda: s.app.screen is s.screen)
        assert (s.draft, s.screen.focused, s.app.theme) == ("dra ft", s.screen.prompt, theme)


async def test_keys_typed_right_after_opening_reach_the_list_in_order() -> None:
    async with with_library(FakeLibrary()) as s:
        for key in ("ctrl+p", *"gruvbox", "enter", *"hi"):
            s.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await s.until(lambda: s.app.theme == "gruvbox" and s.draft == "hi")


async def test_letters_filter_a_list_and_escape_clears_the_filter_first() -> None:
    async with with_library(FakeLibrary()) as s:
        picker = await opened(s, "screen.run('models')")
        await s.shows("ollama/qwen")
        await s.pilot.press(*"sonnet")
        assert marked(picker) == "anthropic/sonnet"
        await s.shows("1 of 4")
        await s.pilot.press("escape")
        assert s.app.screen is picker
        await s.shows("openai/gpt")
        await s.pilot.press(*"zzz")
        await s.shows("Nothing matches zzz.")


async def test_a_chosen_model_is_used_and_one_without_a_key_says_what_it_needs() -> None:
    library = FakeLibrary()
    async with with_library(library) as s:
        picker = await opened(s, "screen.run('models')")
        assert marked(picker) == "demo/model"
        await s.pilot.press(*"gpt", "enter")
        await s.until(lambda: "It needs an API key" in s.drawn() and "set OPENAI_API_KEY." in s.drawn())
        await s.pilot.press("escape", *"sonn", "enter")
        await s.until(lambda: library.asked == ["model anthropic/sonnet"])
        await s.shows("anthropic/sonnet answers now.")


async def test_a_model_that_is_not_listed_can_be_named_in_full() -> None:
    library = FakeLibrary()
    async with with_library(library) as s:
        await opened(s, "screen.run('models')")
        await s.pilot.press(*"xai/grok-9", "enter")
        await s.until(lambda: library.asked == ["model xai/grok-9"])


async def test_the_reason_why_a_model_cannot_be_used_is_shown() -> None:
    library = FakeLibrary()
    library.problem = "The demo has one model only."
    async with with_library(library) as s:
        await opened(s, "screen.run('models')")
        await s.pilot.press("enter")
        await s.shows("The demo has one model only.")


async def test_the_marked_theme_is_previewed_and_stays_once_chosen() -> None:
    async with with_library(FakeLibrary()) as s:
        picker = await opened(s, "screen.run('themes')")
        assert marked(picker) == "coder-dark"
        await s.pilot.press("down")
        await s.until(lambda: s.app.theme == "coder-light")
        await s.pilot.press("enter")
        await s.until(lambda: s.app.screen is s.screen)
        assert s.app.theme == "coder-light"


async def test_a_theme_can_be_named_with_the_command() -> None:
    async with with_library(FakeLibrary()) as s:
        await s.pilot.press(*"/theme nord", "enter")
        await s.until(lambda: s.app.theme == "nord")
        await s.pilot.press(*"/theme drac", "enter")
        await s.until(lambda: isinstance(s.app.screen, ThemesScreen))
        await s.until(lambda: s.app.theme == "dracula")


async def test_a_mode_is_chosen_and_auto_needs_a_second_press() -> None:
    async with with_library(FakeLibrary()) as s:
        await opened(s, "screen.run('modes')")
        await s.pilot.press(*"plan", "enter")
        await s.until(lambda: s.session.mode is Mode.PLAN)
        await opened(s, "screen.run('modes')")
        await s.pilot.press(*"auto", "enter")
        await s.shows("Press Enter again to switch to auto.")
        await s.pilot.press("up", "down", "enter")
        assert isinstance(s.app.screen, ModesScreen)
        await s.pilot.press("enter")
        await s.until(lambda: s.session.mode is Mode.AUTO)


async def test_an_agent_is_chosen_and_shown() -> None:
    async with with_library(FakeLibrary()) as s:
        await opened(s, "screen.run('agents')")
        assert "explore" not in s.drawn()
        await s.pilot.press(*"plan", "enter")
        await s.until(lambda: s.session.profiles.current.name == "plan")


async def test_sessions_are_listed_with_age_messages_and_cost() -> None:
    library = FakeLibrary(
        stored("a1", "make div() safe", 2), stored("b2", "", 50), stored("c3", "far", 1, "/srv/x")
    )
    async with with_library(library) as s:
        await opened(s, "screen.run('sessions')")
        await s.shows("2d  (untitled)")
        row = next(line for line in s.drawn().splitlines() if "make div() safe" in line)
        assert row.partition("▌")[2].split() == ["2h", "make", "div()", "safe", "14", "msg", "$0.37", "│"]
        assert "far" not in s.drawn()
        await s.pilot.press("tab")
        await s.until(lambda: "far" in s.drawn() and "/srv/x" in s.drawn())


async def test_deleting_a_session_takes_two_presses_in_a_row() -> None:
    library = FakeLibrary(stored("a1", "one"), stored("b2", "two"), stored("s-1", "open here"))
    async with with_library(library) as s:
        picker = await opened(s, "screen.run('sessions')")
        await s.pilot.press("d")
        await s.shows("Press d again to delete")
        await s.pilot.press("j", "d")
        assert library.asked == []
        await s.pilot.press("d")
        await s.until(lambda: library.asked == ["delete b2"])
        await s.until(lambda: "“two” was deleted" in s.drawn() and s.drawn().count("two") == 1)
        await s.pilot.press("G", "d", "d")
        assert (marked(picker), library.asked) == ("s-1", ["delete b2"])


async def test_a_session_is_renamed_in_place() -> None:
    library = FakeLibrary(stored("a1", "one"))
    async with with_library(library) as s:
        await opened(s, "screen.run('sessions')")
        await s.pilot.press("r", "ctrl+u", *"nd/d", "enter")
        await s.until(lambda: library.asked == ["rename a1 nd/d"])
        library.problem = "The disk is full."
        await s.pilot.press("r", "x", "enter")
        await s.shows("The disk is full.")


async def test_a_session_of_another_folder_says_how_to_open_it() -> None:
    library = FakeLibrary(stored("c3", "far", 1, "/srv/x"))
    async with with_library(library) as s:
        await s.app.run_action("screen.run('sessions')")
        await s.pilot.press("tab")
        await s.shows("far")
        await s.pilot.press("enter")
        await s.shows("coder-tui --resume c3")
        assert library.asked == []


async def test_opening_a_session_keeps_the_draft() -> None:
    library = FakeLibrary(stored("a1", "one"))
    earlier = (UserMessageAdded("u1", "what was asked"), MessageFinished("m1", "what was said", ""))
    library.opened["a1"] = other = FakeSession(earlier=earlier)
    other.id = "a1"
    async with with_library(library) as s:
        first = s.screen
        await s.pilot.press(*"draft")
        await opened(s, "screen.run('sessions')")
        await s.pilot.press("enter")
        await s.shows("what was said")
        assert s.screen is not first
        await s.pilot.press("!", "enter")
        await s.until(lambda: other.submitted == ["draft!"])
        assert s.session.submitted == []
        await s.pilot.press("escape", "ctrl+d")
        await s.until(lambda: s.app.return_code == 0)
        assert other.is_closed


async def test_a_new_session_begins_by_key_and_not_while_the_agent_works() -> None:
    library = FakeLibrary(stored("a1", "one"))
    library.opened[""] = other = FakeSession()
    other.id = "new"
    async with with_library(library) as s:
        await s.pilot.press(*"go", "enter")
        await s.until(lambda: s.session.is_busy)
        await s.pilot.press(*"/new", "enter")
        await s.shows("stop it first")
        s.session.finish()
        await opened(s, "screen.run('sessions')")
        await s.pilot.press("n")
        await s.until(lambda: s.screen.widgets.sender.session is cast(Session, other))
        assert library.asked == ["open "]


async def test_a_session_that_cannot_be_opened_leaves_the_current_one() -> None:
    library = FakeLibrary(stored("a1", "one"))
    library.problem = "session a1 is open in another coder-tui"
    async with with_library(library) as s:
        first = s.screen
        await opened(s, "screen.run('sessions')")
        await s.pilot.press("enter")
        await s.shows("open in another coder-tui")
        assert s.screen is first


async def test_help_is_searched_by_title_and_by_key() -> None:
    async with with_library(FakeLibrary()) as s:
        picker = await opened(s, "app.help")
        assert s.drawn().index("Session") < s.drawn().index("Stop the agent")
        await s.pilot.press(*"repaint")
        assert marked(picker) == "app.repaint"
        await s.pilot.press("ctrl+u", *"Ctrl+O")
        assert marked(picker) == "session.fold"


async def test_every_command_is_in_the_palette() -> None:
    async with with_library(FakeLibrary()) as s:
        picker = await opened(s, "app.command_palette")
        assert isinstance(picker, PaletteScreen)
        titles = {entry.title for entry in picker.entries}
        assert {row.title for row in KEYS if row.in_palette} - titles == {"Answer the waiting request"}
        await s.pilot.press(*"/quit", "enter")
        await s.until(lambda: s.app.return_code == 0)


@pytest.mark.parametrize(
    ("seconds", "words"), [(5, "now"), (61, "1m"), (7_300, "2h"), (90_000, "1d"), (4e7, "1y"), (-3, "now")]
)
def test_an_age_reads_in_its_largest_unit(seconds: float, words: str) -> None:
    assert age(seconds) == words


async def test_a_model_without_a_key_asks_for_a_hidden_one_and_is_used_then() -> None:
    library = FakeLibrary()
    async with with_library(library) as s:
        await opened(s, "screen.run('models')")
        await s.pilot.press(*"openai", "enter")
        await s.shows("key for openai: _")
        await s.pilot.press(*"sk-se/cret", "enter")
        await s.until(lambda: library.asked == ["model openai/gpt"])
        assert library.keys == {"openai/gpt": "sk-se/cret"}
        await s.shows("The key for openai/gpt is kept.")
        assert "cret" not in s.drawn()


async def test_a_rejected_key_is_asked_for_again() -> None:
    library = FakeLibrary()
    library.problem = "That is too short for a key"
    async with with_library(library) as s:
        picker = await opened(s, "screen.run('models')")
        await s.pilot.press(*"openai", "enter", "a", "enter")
        await s.shows("That is too short for a key.")
        assert (s.app.screen, library.keys, library.asked) == (picker, {}, [])
