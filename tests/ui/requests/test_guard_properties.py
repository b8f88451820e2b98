"""The guard on the screen, in virtual time: typing answers nothing and is not lost, deliberate keys act."""

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from textual import events

from coder_tui.protocol.requests import ApprovalReply, Decision, PlanDecision, PlanReply
from coder_tui.ui.requests.dialog_frame import AnswerLabel
from tests.fakes.typist import KINDS, SETTLED, Outcome, Typist, typist

LETTER, CHORD = 0.5, 0.1
"""Seconds that a deliberate answer may be delayed."""
ALLOWED = {kind: ApprovalReply(Decision.ALLOW_ONCE) for kind in ("edit", "command", "other", "info")}
GUARDED = (*ALLOWED, "plan")


@pytest.fixture(scope="module")
def typing_user() -> Iterator[Typist]:
    with typist() as made:
        yield made


KEY = st.sampled_from([*"abdehinotvwxy123?[] é", "enter"])
GAP = st.integers(0, 300).map(lambda milliseconds: milliseconds / 1000)


@given(
    kind=st.sampled_from(sorted(KINDS)),
    arrival=st.integers(0, 4000).map(lambda milliseconds: milliseconds / 1000),
    first=st.tuples(KEY, st.integers(0, 3000).map(lambda milliseconds: milliseconds / 1000)),
    rest=st.lists(st.tuples(KEY, GAP), min_size=2, max_size=14),
)
@settings(
    max_examples=24,
    derandomize=True,
    database=None,
    deadline=None,
    # Making a failure small takes minutes; `bench.guard` tells more of them.
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_typing_answers_nothing_and_no_character_is_lost(
    typing_user: Typist, kind: str, arrival: float, first: tuple[str, float], rest: list[tuple[str, float]]
) -> None:
    """Keys at most 300 ms apart; a request arrives before, among or after them. Sentences end in letters."""
    typed = [first, *rest, ("a", 0.1), ("b", 0.1)]
    outcome = typing_user.scene(kind, arrival, typed)
    characters = "".join(key for key, _ in typed if len(key) == 1)
    assert outcome == Outcome((), "".join(characters.split()))


async def opened(typing_user: Typist, kind: str) -> None:
    await typing_user.clear()
    typing_user.ask(kind)
    await typing_user.ready()


async def latency(typing_user: Typist, kind: str, key: str) -> float:
    await opened(typing_user, kind)
    pressed = typing_user.time.clock()
    typing_user.press(key)
    await asyncio.sleep(2)
    [at] = typing_user.answered_at
    return at - pressed


@pytest.mark.parametrize("kind", GUARDED)
def test_the_chord_answers_within_a_tenth_of_a_second(typing_user: Typist, kind: str) -> None:
    assert typing_user.time.run(latency(typing_user, kind, "ctrl+y")) <= CHORD
    expected = ALLOWED.get(kind, PlanReply(PlanDecision.APPROVE))
    assert [reply for _, reply in typing_user.stage.session.answers] == [expected]


@pytest.mark.parametrize(("kind", "key"), [("edit", "y"), *((kind, "n") for kind in GUARDED)])
def test_a_letter_that_is_meant_answers_within_half_a_second(
    typing_user: Typist, kind: str, key: str
) -> None:
    assert typing_user.time.run(latency(typing_user, kind, key)) <= LETTER


@pytest.mark.parametrize("kind", [kind for kind in GUARDED if kind != "edit"])
def test_what_cannot_be_undone_is_not_allowed_by_a_letter(typing_user: Typist, kind: str) -> None:
    assert typing_user.scene(kind, 0, [("y", 2.0)]).answers == ()


@pytest.mark.parametrize("kind", GUARDED)
@pytest.mark.parametrize("key", ["enter", "space"])
def test_enter_and_space_alone_answer_nothing(typing_user: Typist, kind: str, key: str) -> None:
    assert typing_user.scene(kind, 0, [(key, 2.0)] * 3) == Outcome((), "")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_paste_answers_nothing_and_lands_in_the_draft(typing_user: Typist, kind: str) -> None:
    async def paste() -> str:
        await opened(typing_user, kind)
        typing_user.stage.app.post_message(events.Paste("1\ny\n"))
        await asyncio.sleep(SETTLED)
        return typing_user.text

    assert typing_user.time.run(paste()) == "1y"
    assert typing_user.stage.session.answers == []


@pytest.mark.parametrize("kind", GUARDED)
def test_a_click_before_the_dialog_is_ready_answers_nothing_and_a_later_one_does(
    typing_user: Typist, kind: str
) -> None:
    async def click(after: float) -> list[object]:
        await typing_user.clear()
        typing_user.ask(kind)
        await asyncio.sleep(after)
        label = typing_user.stage.app.screen.query(AnswerLabel).first()
        at = typing_user.time.clock()
        label.post_message(AnswerLabel.Pressed(label.answer.choice, at))
        await asyncio.sleep(0.05)
        return [reply for _, reply in typing_user.stage.session.answers]

    assert typing_user.time.run(click(0.2)) == []
    assert typing_user.time.run(click(2.0)) == [ALLOWED.get(kind, PlanReply(PlanDecision.APPROVE))]


@pytest.mark.parametrize("kind", GUARDED)
def test_the_first_keys_after_the_terminal_got_the_focus_answer_nothing(
    typing_user: Typist, kind: str
) -> None:
    async def come_back(after: float) -> int:
        await opened(typing_user, kind)
        typing_user.stage.app.post_message(events.AppBlur())
        typing_user.stage.app.post_message(events.AppFocus())
        await asyncio.sleep(after)
        typing_user.press("ctrl+y")
        await asyncio.sleep(0.2)
        return len(typing_user.stage.session.answers)

    assert (typing_user.time.run(come_back(0.2)), typing_user.time.run(come_back(0.5))) == (0, 1)


def test_each_request_is_guarded_again(typing_user: Typist) -> None:
    async def hurry() -> int:
        await opened(typing_user, "command")
        typing_user.ask("edit")
        typing_user.press("ctrl+y")
        await asyncio.sleep(0.2)
        typing_user.press("ctrl+y")
        await asyncio.sleep(2)
        return len(typing_user.stage.session.answers)

    assert typing_user.time.run(hurry()) == 1


def test_a_request_waits_until_typing_has_paused_for_a_second(typing_user: Typist) -> None:
    async def arrive(pause: float) -> bool:
        await typing_user.clear()
        for key in ("a", "backspace"):
            typing_user.press(key)
        await asyncio.sleep(pause)
        typing_user.ask("edit")
        await asyncio.sleep(0.05)
        return typing_user.stage.app.screen is not typing_user.stage.screen

    assert (typing_user.time.run(arrive(0.9)), typing_user.time.run(arrive(1.1))) == (False, True)
