"""The session screen on a scripted session: keys in, calls out, and nothing lost between."""

import asyncio
from pathlib import Path
from typing import cast

import pytest
from textual import events

from coder_tui.agent.session import Session
from coder_tui.protocol.access import Mode
from coder_tui.protocol.events import MessageFinished, TextDelta, TurnFailed, TurnFinished, UserMessageAdded
from coder_tui.protocol.outcomes import TurnOutcome
from coder_tui.ui.app import CoderApp
from coder_tui.ui.chrome.status_bar import Activity
from coder_tui.ui.launch import Launch
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for, stage


def activity(s: Stage) -> Activity:
    return s.screen.status.status.activity


async def test_a_message_goes_out_and_shows_once_it_is_stored() -> None:
    async with stage() as s:
        await s.pilot.press(*"hello", "enter")
        await s.until(lambda: s.session.submitted == ["hello"])
        await s.shows("you  hello")
        assert activity(s) is Activity.WORKING
        s.session.emit(MessageFinished("m", "Hi **there**", ""))
        s.session.finish()
        await s.shows("Hi there")
        assert activity(s) is Activity.IDLE


async def test_what_is_entered_before_the_session_is_ready_is_sent_then() -> None:
    session, gate = FakeSession(), asyncio.Event()

    async def slow() -> Session:
        await gate.wait()
        return cast(Session, session)

    app = CoderApp(Launch(Path("/srv"), "coder-dark", False, slow))
    async with app.run_test() as pilot:
        s = Stage(app, pilot, session)
        await pilot.press(*"one", "enter", *"two", "enter", *"dra")
        await s.shows("queued  one")
        gate.set()
        await s.until(lambda: session.submitted == ["one"])
        await s.until(lambda: session.withdraw_queued() == ("two",))
        assert s.draft == "dra"


async def test_escape_stops_the_turn_and_queued_texts_return_to_the_draft() -> None:
    async with stage() as s:
        await s.pilot.press(*"go", "enter", *"one", "enter", *"two", "enter", *"dr")
        await s.shows("queued  two")
        await s.pilot.press("escape")
        assert s.session.interrupts == 1
        assert s.draft == "one\ntwo\ndr"
        await s.pilot.pause()
        assert "queued" not in s.drawn()


async def test_escape_without_a_turn_goes_to_the_prompt_and_keeps_the_draft() -> None:
    async with stage() as s:
        await s.pilot.press(*"draft", "tab")
        assert s.screen.transcript.view.has_focus
        await s.pilot.press("escape")
        assert s.screen.prompt.has_focus
        assert s.draft == "draft"


async def test_letters_typed_while_the_transcript_has_the_focus_go_to_the_prompt() -> None:
    async with stage() as s:
        await s.pilot.press(*"a", "tab", *"zx")
        assert s.draft == "azx"


async def test_letters_that_mean_something_in_the_transcript_stay_there() -> None:
    async with stage() as s:
        await s.pilot.press("a", "tab", "o", "j", "k")
        assert (s.draft, s.screen.transcript.view.has_focus) == ("a", True)


async def test_keys_that_come_before_there_is_a_prompt_are_typed_into_it_in_order() -> None:
    session = FakeSession()
    app = CoderApp(launch_for(session))
    for character in "early":
        app.post_message(events.Key(character, character))
    app.post_message(events.Key("enter", "\r"))
    app.post_message(events.Key("x", "x"))
    async with app.run_test() as pilot:
        s = Stage(app, pilot, session)
        await s.until(lambda: session.submitted == ["early"])
        assert s.draft == "x"


async def test_a_mode_chosen_before_the_session_opens_applies_to_waiting_messages() -> None:
    session, is_open = FakeSession(), asyncio.Event()

    async def open_session() -> Session:
        await is_open.wait()
        return cast(Session, session)

    modes: list[tuple[str, Mode]] = []
    app = CoderApp(Launch(Path("/srv/project"), "coder-dark", False, open_session))
    async with app.run_test() as pilot:
        s = Stage(app, pilot, session)
        await pilot.press("shift+tab", "shift+tab", *"go", "enter")
        assert (session.mode, session.submitted) == (Mode.ASK, [])
        session.subscribe(
            lambda event: (
                modes.append((event.text, session.mode)) if isinstance(event, UserMessageAdded) else None
            )
        )
        is_open.set()
        await s.until(lambda: modes == [("go", Mode.PLAN)])


async def test_ctrl_c_stashes_then_stops_then_quits_at_the_second_press() -> None:
    async with stage() as s:
        await s.pilot.press(*"go", "enter", *"idea", "ctrl+c")
        assert (s.draft, s.session.interrupts) == ("", 0)
        await s.pilot.press("ctrl+c")
        assert s.session.interrupts == 1
        await s.pilot.press("ctrl+c")
        assert not s.session.is_closed
        await s.pilot.press("ctrl+c")
        await s.until(lambda: s.session.is_closed)
        assert s.app.return_code == 0


async def test_keys_in_one_burst_act_in_their_order() -> None:
    async with stage() as s:
        for key, character in (
            ("a", "a"),
            ("enter", "\r"),
            ("shift+tab", None),
            ("b", "b"),
            ("ctrl+c", None),
        ):
            s.app.post_message(events.Key(key, character))
        await s.until(lambda: s.session.mode is Mode.EDITS and s.screen.prompt.sent.entries == ("a", "b"))
        assert (s.session.submitted, s.session.interrupts, s.draft) == (["a"], 0, "")


async def test_ctrl_c_copies_a_selection_first() -> None:
    async with stage() as s:
        await s.pilot.press(*"word", "shift+home", "ctrl+c")
        await s.until(lambda: s.app.clipboard == "word")
        assert s.draft == "word"


async def test_shift_tab_goes_through_the_modes_and_never_to_auto() -> None:
    async with stage() as s:
        seen = []
        for _ in range(3):
            await s.pilot.press("shift+tab")
            seen.append((s.session.mode, s.screen.status.status.mode))
        assert seen == [(mode, mode) for mode in (Mode.EDITS, Mode.PLAN, Mode.ASK)]


async def test_a_message_that_could_not_be_stored_returns_to_the_draft() -> None:
    session = FakeSession()
    session.fails_before_storing = TurnFailed(1, "The disk is full.", "")
    async with stage(session) as s:
        await s.pilot.press(*"precious", "enter")
        await s.until(lambda: s.draft == "precious")
        await s.shows("The disk is full.")


async def test_a_resumed_session_shows_what_was_said_and_offers_it_as_history() -> None:
    earlier = (UserMessageAdded("u", "old question"), MessageFinished("m", "old answer", ""))
    async with stage(FakeSession(earlier=earlier)) as s:
        await s.shows("old answer")
        await s.pilot.press("up")
        assert s.draft == "old question"


@pytest.mark.parametrize("size", [(20, 5), (1, 1), (29, 8), (30, 7)])
async def test_a_tiny_terminal_says_so_and_still_handles_keys(size: tuple[int, int]) -> None:
    async with stage() as s:
        await s.pilot.resize_terminal(*size)
        await s.until(lambda: s.screen.has_class("-tiny"))
        await s.pilot.press(*"kept")
        await s.pilot.resize_terminal(100, 30)
        await s.shows("kept")
        assert "too small" not in s.drawn()


async def test_a_tiny_terminal_shows_only_the_sentence() -> None:
    async with stage(size=(25, 6)) as s:
        await s.shows("terminal too small")
        assert "ASK" not in s.drawn()


@pytest.mark.parametrize("width", [30, 60, 80, 100, 139, 200])
async def test_the_status_is_one_row_with_mode_and_context_at_every_width(width: int) -> None:
    async with stage(size=(width, 24)) as s:
        last = s.drawn().splitlines()[-1]
        assert s.screen.status.size == (width, 1)
        assert "ASK" in last
        assert "ctx 0" in last


async def test_a_queued_text_returns_to_the_draft_once_when_the_turn_fails() -> None:
    async with stage() as s:
        await s.pilot.press(*"go", "enter", *"two", "enter")
        await s.shows("queued  two")
        s.session.emit(TurnFailed(1, "The model is gone.", ""))
        await s.until(lambda: s.draft == "two")
        assert s.session.withdraw_queued() == ()


async def test_after_a_turn_a_check_is_offered() -> None:
    async with stage() as s:
        await s.until(lambda: s.session.verifier.offers == 1)
        await s.pilot.press(*"go", "enter")
        await s.until(lambda: s.session.is_busy)
        assert s.session.verifier.offers == 1
        s.session.finish()
        await s.until(lambda: s.session.verifier.offers == 2)


async def test_a_queued_text_returns_to_the_draft_when_the_turn_reaches_a_limit() -> None:
    async with stage() as s:
        await s.pilot.press(*"go", "enter", *"two", "enter")
        await s.shows("queued  two")
        s.session.finish(TurnOutcome.LIMIT)
        await s.until(lambda: s.draft == "two")
        assert s.session.withdraw_queued() == ()


@pytest.mark.parametrize(
    ("events", "is_reported"), [((), True), ((TextDelta("m", "Well"),), False)], ids=["silent", "speaking"]
)
async def test_a_turn_that_is_stopped_before_anything_shows_says_so(
    events: tuple[TextDelta, ...], is_reported: bool
) -> None:
    async with stage() as s:
        await s.pilot.press(*"go", "enter")
        await s.until(lambda: s.session.is_busy)
        s.session.emit(*events)
        await s.pilot.press("escape")
        await s.until(lambda: not s.session.is_busy)
        await s.pilot.pause()
        assert ("Stopped before the model replied." in s.drawn()) is is_reported


async def test_a_text_that_was_never_stored_returns_when_the_turn_is_stopped() -> None:
    async with stage() as s:
        s.session.fails_before_storing = TurnFinished(1, TurnOutcome.INTERRUPTED, "", 0)
        await s.pilot.press(*"go", "enter")
        await s.until(lambda: s.draft == "go")


@pytest.mark.parametrize("size", [(80, 24), (40, 10)])
async def test_hints_are_above_the_prompt_and_do_not_pile_up(size: tuple[int, int]) -> None:
    async with stage(size=size) as s:
        for word in "one", "two", "three", "four":
            await s.pilot.press(*word, "ctrl+c")
        await s.pilot.press("f4", "f4", "ctrl+c")
        await s.until(lambda: "no todo list" in s.drawn() and "Ctrl+C again" in s.drawn())
        assert "Draft saved" not in s.drawn()
        hints = s.screen.query_one("#hint").region
        assert hints.width <= 60
        assert hints.bottom <= s.screen.query_one("#composer").region.y
        await s.shows("Ask, or describe")
