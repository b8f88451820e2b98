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
from coder_tui.ui.lists.choosers import AgentsScreen, ModesScreen, ThemesScreen
from coder_tui.ui.lists.help import HelpScreen, PaletteScreen
from coder_tui.ui.lists.models import ModelsScreen
from coder_tui.ui.lists.picker import PickerScreen
from coder_tui.ui.lists.sessions import SessionsScreen, age
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for, stage
from tests.fakes.shelf import FakeShelf, stored

OPENERS: dict[str, type[PickerScreen]] = {
    "screen.sessions": SessionsScreen,
    "screen.models": ModelsScreen,
    "screen.modes": ModesScreen,
    "screen.agents": AgentsScreen,
    "screen.themes": ThemesScreen,
    "app.command_palette": PaletteScreen,
    "app.help": HelpScreen,
}


@asynccontextmanager
async def shelved(shelf: FakeShelf, size: tuple[int, int] = (100, 30)) -> AsyncIterator[Stage]:
    session = FakeSession()
    async with stage(session, size, replace(launch_for(session), shelf=lambda: shelf)) as s:
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
async def test_escape_closes_every_list_and_gives_draft_and_focus_back(action: str) -> None:
    async with shelved(FakeShelf(stored("a1", "one"))) as s:
        await s.pilot.press(*"dra ft")
        theme = s.app.theme
        await opened(s, action)
        await s.pilot.press("down", "escape")
        await s.until(lambda: s.app.screen is s.screen)
        assert (s.draft, s.screen.focused, s.app.theme) == ("dra ft", s.screen.prompt, theme)


async def test_keys_typed_right_after_opening_reach_the_list_in_order() -> None:
    async with shelved(FakeShelf()) as s:
        for key in ("ctrl+p", *"gruvbox", "enter", *"hi"):
            s.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await s.until(lambda: s.app.theme == "gruvbox" and s.draft == "hi")


async def test_letters_narrow_a_list_down_and_escape_widens_it_first() -> None:
    async with shelved(FakeShelf()) as s:
        picker = await opened(s, "screen.models")
        await s.until(lambda: "ollama/qwen" in s.drawn())
        await s.pilot.press(*"sonnet")
        assert marked(picker) == "anthropic/sonnet"
        await s.until(lambda: "1 of 4" in s.drawn())
        await s.pilot.press("escape")
        assert s.app.screen is picker
        await s.until(lambda: "openai/gpt" in s.drawn())
        await s.pilot.press(*"zzz")
        await s.until(lambda: "Nothing fits zzz." in s.drawn())


async def test_a_chosen_model_is_used_and_one_without_a_key_says_what_it_needs() -> None:
    shelf = FakeShelf()
    async with shelved(shelf) as s:
        picker = await opened(s, "screen.models")
        assert marked(picker) == "demo/model"
        await s.pilot.press(*"gpt", "enter")
        await s.until(lambda: "It needs a key" in s.drawn() and "set OPENAI_API_KEY." in s.drawn())
        await s.pilot.press("escape", *"sonn", "enter")
        await s.until(lambda: shelf.asked == ["model anthropic/sonnet"])
        await s.until(lambda: "anthropic/sonnet answers now." in s.drawn())


async def test_a_model_that_is_not_listed_can_be_named_in_full() -> None:
    shelf = FakeShelf()
    async with shelved(shelf) as s:
        await opened(s, "screen.models")
        await s.pilot.press(*"xai/grok-9", "enter")
        await s.until(lambda: shelf.asked == ["model xai/grok-9"])


async def test_why_a_model_cannot_be_used_is_told() -> None:
    shelf = FakeShelf()
    shelf.problem = "The demo has one model only."
    async with shelved(shelf) as s:
        await opened(s, "screen.models")
        await s.pilot.press("enter")
        await s.until(lambda: "The demo has one model only." in s.drawn())


async def test_a_theme_shows_as_the_mark_reaches_it_and_stays_once_chosen() -> None:
    async with shelved(FakeShelf()) as s:
        picker = await opened(s, "screen.themes")
        assert marked(picker) == "coder-dark"
        await s.pilot.press("down")
        await s.until(lambda: s.app.theme == "coder-light")
        await s.pilot.press("enter")
        await s.until(lambda: s.app.screen is s.screen)
        assert s.app.theme == "coder-light"


async def test_a_theme_can_be_named_with_the_command() -> None:
    async with shelved(FakeShelf()) as s:
        await s.pilot.press(*"/theme nord", "enter")
        await s.until(lambda: s.app.theme == "nord")
        await s.pilot.press(*"/theme drac", "enter")
        await s.until(lambda: isinstance(s.app.screen, ThemesScreen))
        await s.until(lambda: s.app.theme == "dracula")


async def test_a_mode_is_chosen_and_auto_wants_a_second_press() -> None:
    async with shelved(FakeShelf()) as s:
        await opened(s, "screen.modes")
        await s.pilot.press(*"plan", "enter")
        await s.until(lambda: s.session.mode is Mode.PLAN)
        await opened(s, "screen.modes")
        await s.pilot.press(*"auto", "enter")
        await s.until(lambda: "Press Enter again to switch auto on." in s.drawn())
        await s.pilot.press("up", "down", "enter")
        assert isinstance(s.app.screen, ModesScreen)
        await s.pilot.press("enter")
        await s.until(lambda: s.session.mode is Mode.AUTO)


async def test_an_agent_is_chosen_and_shown() -> None:
    async with shelved(FakeShelf()) as s:
        await opened(s, "screen.agents")
        assert "explore" not in s.drawn()
        await s.pilot.press(*"plan", "enter")
        await s.until(lambda: s.session.profiles.current.name == "plan")


async def test_sessions_are_listed_with_age_messages_and_cost() -> None:
    shelf = FakeShelf(
        stored("a1", "make div() safe", 2), stored("b2", "", 50), stored("c3", "far", 1, "/srv/x")
    )
    async with shelved(shelf) as s:
        await opened(s, "screen.sessions")
        await s.until(lambda: "2d  (untitled)" in s.drawn())
        row = next(line for line in s.drawn().splitlines() if "make div() safe" in line)
        assert row.partition("▌")[2].split() == ["2h", "make", "div()", "safe", "14", "msg", "$0.37", "│"]
        assert "far" not in s.drawn()
        await s.pilot.press("tab")
        await s.until(lambda: "far" in s.drawn() and "/srv/x" in s.drawn())


async def test_deleting_a_session_takes_two_presses_in_a_row() -> None:
    shelf = FakeShelf(stored("a1", "one"), stored("b2", "two"), stored("s-1", "open here"))
    async with shelved(shelf) as s:
        picker = await opened(s, "screen.sessions")
        await s.pilot.press("d")
        await s.until(lambda: "Press d again to delete" in s.drawn())
        await s.pilot.press("j", "d")
        assert shelf.asked == []
        await s.pilot.press("d")
        await s.until(lambda: shelf.asked == ["delete b2"])
        await s.until(lambda: "“two” is deleted" in s.drawn() and s.drawn().count("two") == 1)
        await s.pilot.press("G", "d", "d")
        assert (marked(picker), shelf.asked) == ("s-1", ["delete b2"])


async def test_a_session_is_renamed_in_place() -> None:
    shelf = FakeShelf(stored("a1", "one"))
    async with shelved(shelf) as s:
        await opened(s, "screen.sessions")
        await s.pilot.press("r", "ctrl+u", *"nd/d", "enter")
        await s.until(lambda: shelf.asked == ["rename a1 nd/d"])
        shelf.problem = "The disk is full."
        await s.pilot.press("r", "x", "enter")
        await s.until(lambda: "The disk is full." in s.drawn())


async def test_a_session_of_another_folder_says_how_to_open_it() -> None:
    shelf = FakeShelf(stored("c3", "far", 1, "/srv/x"))
    async with shelved(shelf) as s:
        await s.app.run_action("screen.sessions")
        await s.pilot.press("tab")
        await s.until(lambda: "far" in s.drawn())
        await s.pilot.press("enter")
        await s.until(lambda: "coder-tui --resume c3" in s.drawn())
        assert shelf.asked == []


async def test_a_chosen_session_takes_the_screen_and_the_draft_comes_along() -> None:
    shelf = FakeShelf(stored("a1", "one"))
    earlier = (UserMessageAdded("u1", "what was asked"), MessageFinished("m1", "what was said", ""))
    shelf.opened["a1"] = other = FakeSession(earlier=earlier)
    other.id = "a1"
    async with shelved(shelf) as s:
        first = s.screen
        await s.pilot.press(*"draft")
        await opened(s, "screen.sessions")
        await s.pilot.press("enter")
        await s.until(lambda: "what was said" in s.drawn())
        assert s.screen is not first
        await s.pilot.press("!", "enter")
        await s.until(lambda: other.submitted == ["draft!"])
        assert s.session.submitted == []
        await s.pilot.press("escape", "ctrl+d")
        await s.until(lambda: s.app.return_code == 0)
        assert other.is_closed


async def test_a_new_session_begins_by_key_and_not_while_the_agent_works() -> None:
    shelf = FakeShelf(stored("a1", "one"))
    shelf.opened[""] = other = FakeSession()
    other.id = "new"
    async with shelved(shelf) as s:
        await s.pilot.press(*"go", "enter")
        await s.until(lambda: s.session.is_busy)
        await s.pilot.press(*"/new", "enter")
        await s.until(lambda: "stop it first" in s.drawn())
        s.session.finish()
        await opened(s, "screen.sessions")
        await s.pilot.press("n")
        await s.until(lambda: s.screen.conversation.session is cast(Session, other))
        assert shelf.asked == ["open "]


async def test_a_session_that_cannot_be_opened_leaves_the_present_one() -> None:
    shelf = FakeShelf(stored("a1", "one"))
    shelf.problem = "session a1 is open in another coder-tui"
    async with shelved(shelf) as s:
        first = s.screen
        await opened(s, "screen.sessions")
        await s.pilot.press("enter")
        await s.until(lambda: "open in another coder-tui" in s.drawn())
        assert s.screen is first


async def test_help_is_searched_by_title_and_by_key() -> None:
    async with shelved(FakeShelf()) as s:
        picker = await opened(s, "app.help")
        assert s.drawn().index("Session") < s.drawn().index("Stop the agent")
        await s.pilot.press(*"repaint")
        assert marked(picker) == "app.repaint"
        await s.pilot.press("ctrl+u", *"Ctrl+O")
        assert marked(picker) == "session.fold"


async def test_everything_that_has_a_command_of_its_own_is_in_the_palette() -> None:
    async with shelved(FakeShelf()) as s:
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


async def test_a_model_that_lacks_its_key_takes_one_unseen_and_is_used_then() -> None:
    shelf = FakeShelf()
    async with shelved(shelf) as s:
        await opened(s, "screen.models")
        await s.pilot.press(*"openai", "enter")
        await s.until(lambda: "key for openai: _" in s.drawn())
        await s.pilot.press(*"sk-se/cret", "enter")
        await s.until(lambda: shelf.asked == ["model openai/gpt"])
        assert shelf.keys == {"openai/gpt": "sk-se/cret"}
        await s.until(lambda: "The key for openai/gpt is kept." in s.drawn())
        assert "cret" not in s.drawn()


async def test_a_key_that_is_refused_is_asked_for_again() -> None:
    shelf = FakeShelf()
    shelf.problem = "That is too short for a key"
    async with shelved(shelf) as s:
        picker = await opened(s, "screen.models")
        await s.pilot.press(*"openai", "enter", "a", "enter")
        await s.until(lambda: "That is too short for a key." in s.drawn())
        assert (s.app.screen, shelf.keys, shelf.asked) == (picker, {}, [])
