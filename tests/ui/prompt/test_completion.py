"""Suggestions over the prompt: what they offer, and that no key is lost to them."""

from pathlib import Path

import pytest
from textual import events

from coder_tui.protocol.access import Mode
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, stage


@pytest.fixture
def project(tmp_path: Path) -> FakeSession:
    for name in ("calc.py", "src/app.py", "src/deep/app_test.py", "a b.txt", "数/計算.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return FakeSession(tmp_path)


def burst(s: Stage, *keys: str) -> None:
    for key in keys:
        character = {"enter": "\r", "space": " "}.get(key, key if len(key) == 1 else None)
        s.app.post_message(events.Key("space" if key == " " else key, character))


def is_open(s: Stage) -> bool:
    return s.screen.widgets.composing.completer.is_open


@pytest.mark.parametrize(
    ("typed", "draft"),
    [
        ("see @calc", "see @calc.py "),
        ("(@deepapp", "(@src/deep/app_test.py "),
        ("@src/deep", "@src/deep/"),
        ("@b.tx", '@"a b.txt" '),
        ("@計", "@数/計算.py "),
    ],
)
async def test_tab_accepts_the_first_suggestion_also_within_a_burst_of_keys(
    project: FakeSession, typed: str, draft: str
) -> None:
    async with stage(project) as s:
        burst(s, *typed, "tab")
        await s.until(lambda: s.draft == draft)
        assert s.screen.prompt.has_focus


async def test_arrows_move_and_enter_accepts_without_sending(project: FakeSession) -> None:
    async with stage(project) as s:
        await s.pilot.press(*"@app")
        await s.until(lambda: is_open(s))
        await s.pilot.press("down", "enter")
        assert (s.draft, s.session.submitted) == ("@src/deep/app_test.py ", [])
        await s.pilot.press(*"now", "enter")
        await s.until(lambda: s.session.submitted == ["@src/deep/app_test.py now"])


async def test_escape_closes_for_this_word_and_leaves_the_turn_alone(project: FakeSession) -> None:
    async with stage(project) as s:
        await s.pilot.press(*"go", "enter", *"@ca")
        await s.until(lambda: is_open(s))
        await s.pilot.press("escape", "l")
        await s.pilot.pause()
        assert (is_open(s), s.session.interrupts, s.draft) == (False, 0, "@cal")
        await s.pilot.press("space", *"@src")
        await s.until(lambda: is_open(s))


@pytest.mark.parametrize(
    "typed", ["me@example.org", "@calc.py:", "@calc.py:10-20", "plain words", "@nothing-like-it"]
)
async def test_enter_sends_if_there_is_no_suggestion(project: FakeSession, typed: str) -> None:
    async with stage(project) as s:
        burst(s, *typed, "enter")
        await s.until(lambda: s.session.submitted == [typed])


async def test_enter_sends_a_complete_name(project: FakeSession) -> None:
    async with stage(project) as s:
        burst(s, *"@calc.py", "enter")
        await s.until(lambda: s.session.submitted == ["@calc.py"])


async def test_an_accepted_suggestion_comes_first_next_time(project: FakeSession) -> None:
    async with stage(project) as s:
        burst(s, *"@deepapp", "tab", *"and @app", "tab")
        await s.until(lambda: s.draft == "@src/deep/app_test.py and @src/deep/app_test.py ")


async def test_a_word_is_replaced_to_its_end(project: FakeSession) -> None:
    async with stage(project) as s:
        burst(s, *"@calX rest", *["left"] * 6, "tab")
        await s.until(lambda: s.draft == "@calc.py rest")


async def test_tab_goes_to_the_transcript_if_nothing_is_named(project: FakeSession) -> None:
    async with stage(project) as s:
        await s.pilot.press(*"word", "tab")
        assert s.screen.transcript.view.has_focus


async def test_the_menu_explains_commands_and_enter_runs_one(project: FakeSession) -> None:
    async with stage(project) as s:
        await s.pilot.press("/")
        await s.shows("/mode [ask|edits|plan|auto]  Choose what runs")
        burst(s, *"qxx", "escape")
        await s.until(lambda: not is_open(s))
        burst(s, "ctrl+c", *"/mode plan", "enter")
        await s.until(lambda: s.session.mode is Mode.PLAN)
        assert (s.session.submitted, s.draft) == ([], "")


async def test_enter_runs_the_marked_command_unless_it_needs_an_argument(
    project: FakeSession,
) -> None:
    async with stage(project) as s:
        burst(s, *"/rena", "enter")
        await s.until(lambda: s.draft == "/rename ")
        burst(s, "ctrl+c", *"/qui", "enter")
        await s.until(lambda: s.session.is_closed)


async def test_an_unknown_command_stays_in_the_prompt_and_names_the_nearest(project: FakeSession) -> None:
    async with stage(project) as s:
        burst(s, *"/exprot it", "enter")
        await s.shows("There is no command /exprot. Did you mean /export")
        assert (s.draft, s.session.submitted) == ("/exprot it", [])


async def test_a_command_works_while_the_agent_does(project: FakeSession) -> None:
    async with stage(project) as s:
        burst(s, *"go", "enter", *"/mode edits", "enter")
        await s.until(lambda: s.session.mode is Mode.EDITS)
        assert s.session.is_busy


async def test_a_path_at_the_beginning_is_a_message(project: FakeSession) -> None:
    async with stage(project) as s:
        burst(s, *"/usr/bin is full", "enter")
        await s.until(lambda: s.session.submitted == ["/usr/bin is full"])


async def test_ctrl_r_finds_an_earlier_message_and_the_draft_is_not_lost(project: FakeSession) -> None:
    async with stage(project) as s:
        for text in ("fix the parser", "write tests", "fix the tests"):
            s.screen.prompt.sent.add(text)
        burst(s, *"my draft", "ctrl+r", *"fix")
        await s.until(lambda: is_open(s) and "❯ fix the tests" in s.drawn())
        burst(s, "ctrl+r", "enter")
        await s.until(lambda: s.draft == "fix the parser")
        assert s.session.submitted == []
        burst(s, "up")
        await s.until(lambda: s.draft == "my draft")


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_leaving_the_search_restores_the_draft(project: FakeSession, key: str) -> None:
    async with stage(project) as s:
        s.screen.prompt.sent.add("earlier")
        burst(s, *"my draft", "ctrl+r", *"zzz", "up", "enter", key)
        await s.until(lambda: s.draft == "my draft")
        assert s.session.submitted == []


async def test_a_text_that_returns_unsent_during_a_search_is_not_lost(project: FakeSession) -> None:
    async with stage(project) as s:
        burst(s, *"draft", "ctrl+r", *"x")
        await s.until(lambda: s.draft == "x")
        s.screen.prompt.put_back(("unsent",))
        burst(s, "escape")
        await s.until(lambda: s.draft == "unsent\ndraft")


@pytest.mark.parametrize("size", [(80, 24), (30, 8), (200, 50)])
async def test_the_list_is_right_above_the_prompt(project: FakeSession, size: tuple[int, int]) -> None:
    async with stage(project, size=size) as s:
        await s.pilot.press("@")
        await s.until(lambda: is_open(s))
        await s.pilot.pause()
        popup = s.screen.query_one("#completion").region
        assert popup.bottom == s.screen.query_one("#composer").region.y
        assert popup.width == size[0]


async def test_messages_of_other_sessions_of_the_folder_are_in_the_history(project: FakeSession) -> None:
    project.report.sent = ("long ago",)
    async with stage(project) as s:
        burst(s, "ctrl+r", *"ago", "enter")
        await s.until(lambda: s.draft == "long ago")
