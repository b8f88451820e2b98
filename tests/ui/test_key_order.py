"""Keys that arrive together act one after the other, each to its end."""

import pytest
from textual import events

from coder_tui.protocol.events import MessageFinished, RequestOpened, UserMessageAdded
from coder_tui.protocol.requests import ApprovalReply, Decision
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, shell_request, stage

_CHARACTERS = {"enter": "\r", "space": " "}


def burst(s: Stage, *keys: str) -> None:
    """As one read of the terminal: all are in the app's queue before the first is dealt with."""
    for key in keys:
        character = key if len(key) == 1 else _CHARACTERS.get(key)
        s.app.post_message(events.Key("space" if key == " " else key, character))


@pytest.mark.parametrize(
    ("keys", "draft"),
    [
        (["a", "X", "backspace", "b"], "ab"),
        (["a", "ctrl+j", "b", "ctrl+j", "c"], "a\nb\nc"),
        (["b", "left", "a", "right", "c"], "abc"),
        (["a", "b", "ctrl+w", "c"], "c"),
        (["a", "b", "home", "ctrl+d", "z"], "zb"),
        (["a", "escape", "b", "shift+tab", "c", "f1", "escape"], "abc"),
        (["a", "ctrl+c", "b", "up", "c"], "ac"),
    ],
)
async def test_a_burst_of_keys_writes_what_it_would_key_by_key(keys: list[str], draft: str) -> None:
    async with stage() as s:
        burst(s, *keys)
        await s.until(lambda: s.draft == draft)
        assert s.session.submitted == []


async def test_enter_sends_the_text_at_the_time_it_was_pressed() -> None:
    async with stage() as s:
        burst(s, *"helloXX", "backspace", "backspace", "enter", *"next")
        await s.until(lambda: s.session.submitted == ["hello"] and s.draft == "next")


async def test_ctrl_c_right_after_enter_stops_the_turn_instead_of_counting_towards_quitting() -> None:
    async with stage() as s:
        burst(s, *"go", "enter", "ctrl+c", "x")
        await s.until(lambda: s.session.interrupts == 1 and s.draft == "x")
        assert (s.session.submitted, s.session.is_closed) == (["go"], False)


async def test_alt_with_a_letter_means_its_action_and_an_unknown_one_is_typed() -> None:
    """A terminal sends the letter along."""
    async with stage() as s:
        before = s.screen.transcript.history.strips.view.thinking
        s.app.post_message(events.Key("alt+t", "t"))
        s.app.post_message(events.Key("alt+z", "z"))
        await s.until(lambda: s.draft == "z")
        assert s.screen.transcript.history.strips.view.thinking is before.next


async def test_a_paste_among_keys_keeps_its_place() -> None:
    async with stage() as s:
        burst(s, "a")
        s.app.post_message(events.Paste("\npasted\n"))
        burst(s, "b", "enter")
        await s.until(lambda: s.session.submitted == ["a\npasted\nb"])


async def test_letters_typed_over_the_transcript_arrive_whole() -> None:
    earlier = (UserMessageAdded("u", "question"), MessageFinished("m", "answer", ""))
    async with stage(FakeSession(earlier=earlier)) as s:
        burst(s, "tab", *"zoo foo boo jk")
        await s.until(lambda: s.draft == "zoo foo boo jk")
        assert s.screen.focused is s.screen.prompt


async def test_a_reason_is_written_and_sent_in_order() -> None:
    async with stage() as s:
        s.session.emit(RequestOpened(shell_request()))
        await s.ready_dialog()
        await s.pilot.press("d")
        await s.until(lambda: s.dialog is not None and s.dialog.focused is not None)
        burst(s, *"noX", "backspace", "ctrl+j", *"why", "enter", *"later")
        await s.until(lambda: s.session.answers == [("r1", ApprovalReply(Decision.DENY, "no\nwhy"))])
        await s.until(lambda: s.draft == "later")
