"""The screen of somebody who has no model yet."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from textual import events

from coder_tui.config.inventory import FileState, ItemKind, ProjectInventory, ProjectItem
from coder_tui.protocol.errors import UserError
from coder_tui.ui.app import CoderApp
from coder_tui.ui.first_run import FirstRunScreen, FirstRunState, KeyState
from coder_tui.ui.requests.trust import TrustScreen
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for
from tests.fakes.trusting import Trusting

KEY = "sk-very-secret-0123456789"
STATES = (
    KeyState("anthropic", "Anthropic", "ANTHROPIC_API_KEY"),
    KeyState("openai", "OpenAI", "OPENAI_API_KEY"),
)


@dataclass
class Beginning:
    """Without a model until a key was kept."""

    kept: dict[str, str] = field(default_factory=dict)
    asked: int = 0
    has_server: bool = False
    trusting: Trusting = field(default_factory=lambda: Trusting(None))

    async def question(self) -> FirstRunState | None:
        self.asked += 1
        has_question = self.trusting.inventory is not None and not self.trusting.answers
        state = FirstRunState(STATES, has_trust_question=has_question)
        return None if self.kept or self.has_server else state

    async def keep_key(self, provider: str, key: str) -> str:
        if " " in key:
            raise UserError("A key has no blanks")
        self.kept[provider] = key
        return "It is in the keyring."


@asynccontextmanager
async def begun(
    beginning: Beginning, size: tuple[int, int] = (100, 30), *, use_ascii: bool = False
) -> AsyncIterator[Stage]:
    session = FakeSession(Path("/srv/project"))
    launch = launch_for(session, use_ascii=use_ascii)
    app = CoderApp(replace(launch, first_run=beginning, trust=beginning.trusting))
    async with app.run_test(size=size) as pilot:
        yield Stage(app, pilot, session)


async def shown(s: Stage) -> FirstRunScreen:
    await s.until(lambda: isinstance(s.app.screen, FirstRunScreen) and s.app.screen.list.marked is not None)
    await s.pilot.pause()
    assert isinstance(s.app.screen, FirstRunScreen)
    return s.app.screen


def is_open(s: Stage) -> bool:
    return s.screen.widgets.sender.session is not None


@pytest.mark.parametrize("key", ["d", "enter", "escape"])
async def test_one_key_leads_into_the_demo(key: str) -> None:
    beginning = Beginning()
    async with begun(beginning) as s:
        await shown(s)
        assert not is_open(s)
        await s.pilot.press(key)
        await s.until(lambda: is_open(s))
        assert (beginning.kept, s.app.screen, s.screen.focused) == ({}, s.screen, s.screen.prompt)


@pytest.mark.parametrize("use_ascii", [False, True], ids=["unicode", "ascii"])
async def test_a_key_is_typed_unseen_and_kept(use_ascii: bool) -> None:
    beginning = Beginning()
    async with begun(beginning, use_ascii=use_ascii) as s:
        await shown(s)
        await s.pilot.press("down", "down", "enter", *"sk-very")
        s.app.post_message(events.Paste("-secret-0123456789\n"))
        hidden = ("*" if use_ascii else "•") * len(KEY)
        await s.shows(f"key for OpenAI: {hidden}_")
        assert "secret" not in s.drawn()
        await s.pilot.press("enter")
        await s.until(lambda: is_open(s))
        assert beginning.kept == {"openai": KEY}
        await s.shows("It is in the keyring.")
        assert KEY not in s.app.export_screenshot()


async def test_an_impossible_key_is_reported_and_asked_for_again() -> None:
    beginning = Beginning()
    async with begun(beginning) as s:
        await shown(s)
        await s.pilot.press("down", "enter", "a", "space", "b", "enter")
        await s.shows("A key has no blanks.")
        assert not is_open(s)
        await s.pilot.press(*"abcdefgh", "enter")
        await s.until(lambda: is_open(s))
        assert beginning.kept == {"anthropic": "abcdefgh"}


async def test_escape_drops_a_half_typed_key_first() -> None:
    async with begun(Beginning()) as s:
        picker = await shown(s)
        await s.pilot.press("down", "enter", *"half", "escape")
        assert (s.app.screen, picker.line.text) == (picker, "")
        assert not is_open(s)


async def test_a_server_that_was_started_later_is_found() -> None:
    beginning = Beginning()
    async with begun(beginning) as s:
        await shown(s)
        beginning.has_server = True
        await s.pilot.press("r")
        await s.until(lambda: is_open(s))
        assert beginning.asked == 2


async def test_quitting_shows_the_other_ways_to_set_up_a_model() -> None:
    async with begun(Beginning()) as s:
        await shown(s)
        await s.pilot.press("q")
        await s.until(lambda: not s.app.is_running)
    assert (s.app.return_code, is_open(s)) == (0, False)


async def test_a_draft_is_not_covered_and_what_was_sent_goes_out_afterwards() -> None:
    async with begun(Beginning()) as s:
        s.app.post_message(events.Key("h", "h"))
        s.app.post_message(events.Key("i", "i"))
        await s.shows("asked for one once your draft is sent")
        assert (s.draft, s.app.screen) == ("hi", s.screen)
        await s.pilot.press("enter")
        await shown(s)
        await s.pilot.press("d")
        await s.until(lambda: s.session.submitted == ["hi"])


async def test_a_folder_with_nothing_to_trust_says_so() -> None:
    async with begun(Beginning()) as s:
        await shown(s)
        await s.pilot.press("t")
        await s.shows("has nothing that needs your trust")
        assert isinstance(s.app.screen, FirstRunScreen)


async def test_a_postponed_question_about_trust_can_be_answered_here() -> None:
    file = FileState(".coder-tui/config.toml", "0", is_trusted=False)
    item = ProjectItem(ItemKind.RULE, file.name, 4, 'lets "rm *" run without asking')
    beginning = Beginning(trusting=Trusting(ProjectInventory("/srv/project", (file,), (item,))))
    async with begun(beginning) as s:
        await s.until(lambda: isinstance(s.app.screen, TrustScreen) and s.app.screen.is_ready)
        await s.pilot.press("escape")
        await shown(s)
        await s.shows("not decided")
        await s.pilot.press("t")
        await s.until(lambda: isinstance(s.app.screen, TrustScreen) and s.app.screen.is_ready)
        await s.pilot.pause()
        await s.pilot.press("ctrl+y")
        await shown(s)
        assert ("nothing to decide" in s.drawn(), beginning.trusting.answers) == (True, ["accept"])
        assert not is_open(s)


async def test_all_of_it_is_seen_at_80_columns() -> None:
    async with begun(Beginning(), size=(80, 24)) as s:
        await shown(s)
        drawn = s.drawn()
        for words in (
            "Try the demo now",
            "ANTHROPIC_API_KEY",
            "✗ no key",
            "none answers",
            "nothing to decide",
        ):
            assert words in drawn
