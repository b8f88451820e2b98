"""Slow commands: messages wait for them, and some can be stopped."""

import pytest

from coder_tui.ui.session.slash import ONE_AT_A_TIME, STOPPED
from tests.fakes.fake_session import FakeSession, Lasting
from tests.fakes.screens import Stage, stage


async def enter(s: Stage, text: str) -> None:
    s.screen.prompt.text = text
    await s.pilot.press("enter")


def work_of(session: FakeSession, command: str) -> Lasting:
    return {
        "/undo": session.turns.run,
        "/compact": session.compaction.run,
        "/verify": session.verifier.run,
    }[command]


async def test_a_message_sent_during_an_undo_is_sent_on_the_new_screen() -> None:
    async with stage() as s:
        before = s.screen
        await enter(s, "/undo")
        await s.until(lambda: s.session.turns.run.begun == 1)
        await enter(s, "one more thing")
        await enter(s, "and another")
        assert s.session.submitted == []
        await s.shows("one more thing")
        assert s.screen.widgets.sender.unstored == ("one more thing", "and another")
        s.session.turns.run.end.set()
        await s.until(lambda: s.session.submitted == ["one more thing"])
        await s.until(lambda: s.session.withdraw_queued() == ("and another",))
        await s.shows("Undone: turn 1")
        assert s.screen is not before
        assert s.drawn().index("Undone: turn 1") < s.drawn().index("one more thing")


async def test_escape_during_an_undo_returns_waiting_messages_to_the_draft() -> None:
    async with stage() as s:
        await enter(s, "/undo")
        await s.until(lambda: s.session.turns.run.begun == 1)
        await enter(s, "one more thing")
        await s.pilot.press("escape")
        await s.until(lambda: s.draft == "one more thing")
        s.session.turns.run.end.set()
        await s.shows("Undone: turn 1")
        assert (s.session.turns.run.stopped, s.session.submitted, s.draft) == (0, [], "one more thing")


async def test_a_second_undo_returns_to_the_prompt_and_the_first_finishes() -> None:
    async with stage() as s:
        await enter(s, "/undo")
        await s.until(lambda: s.session.turns.run.begun == 1)
        await enter(s, "/undo")
        await s.until(lambda: ONE_AT_A_TIME in s.drawn() and s.draft == "/undo")
        s.session.turns.run.end.set()
        await s.shows("Undone: turn 1")
        assert (s.session.turns.run.begun, s.session.turns.run.stopped, s.draft) == (1, 0, "/undo")


async def test_a_message_sent_during_a_compaction_is_sent_after_it() -> None:
    async with stage() as s:
        await enter(s, "/compact")
        await s.until(lambda: s.session.compaction.run.begun == 1)
        await enter(s, "one more thing")
        assert s.session.submitted == []
        s.session.compaction.run.end.set()
        await s.until(lambda: s.session.submitted == ["one more thing"])


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
@pytest.mark.parametrize("command", ["/compact", "/verify"])
async def test_a_command_is_stopped_by_the_keys_that_stop_the_agent(command: str, key: str) -> None:
    async with stage() as s:
        work = work_of(s.session, command)
        await enter(s, command)
        await s.until(lambda: work.begun == 1)
        await s.pilot.press(key)
        await s.until(lambda: work.stopped == 1 and STOPPED in s.drawn())
        assert not s.session.is_busy


async def test_waiting_messages_return_to_the_draft_when_a_command_is_stopped() -> None:
    async with stage() as s:
        await enter(s, "/compact")
        await s.until(lambda: s.session.compaction.run.begun == 1)
        await enter(s, "one more thing")
        await s.pilot.press("escape")
        await s.until(lambda: s.session.compaction.run.stopped == 1 and s.draft == "one more thing")
        assert s.session.submitted == []


async def test_messages_queued_for_the_agent_stay_queued_when_a_check_is_stopped() -> None:
    async with stage() as s:
        await enter(s, "go")
        await s.until(lambda: s.session.is_busy)
        await enter(s, "/verify")
        await s.until(lambda: s.session.verifier.run.begun == 1)
        await enter(s, "one more thing")
        await s.shows("queued  one more thing")
        await s.pilot.press("escape")
        await s.until(lambda: s.session.verifier.run.stopped == 1)
        assert (s.session.interrupts, s.draft) == (0, "")
        assert s.session.withdraw_queued() == ("one more thing",)
