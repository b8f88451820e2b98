"""The guard on the real screen, in virtual time: typing answers nothing and is not lost; a meant key acts."""

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
"""Seconds that somebody who means it may be kept waiting."""
ALLOWED = {kind: ApprovalReply(Decision.ALLOW_ONCE) for kind in ("edit", "command", "other", "info")}
GUARDED = (*ALLOWED, "plan")


@pytest.fixture(scope="module")
def person() -> Iterator[Typist]:
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
    person: Typist, kind: str, arrival: float, first: tuple[str, float], rest: list[tuple[str, float]]
) -> None:
    """Keys at most 300 ms apart; a request arrives before, among or after them. Sentences end in letters."""
    typed = [first, *rest, ("a", 0.1), ("b", 0.1)]
    outcome = person.scene(kind, arrival, typed)
    characters = "".join(key for key, _ in typed if len(key) == 1)
    assert outcome == Outcome((), "".join(characters.split()))


async def opened(person: Typist, kind: str) -> None:
    await person.clear()
    person.ask(kind)
    await person.ready()


async def latency(person: Typist, kind: str, key: str) -> float:
    await opened(person, kind)
    pressed = person.time.clock()
    person.press(key)
    await asyncio.sleep(2)
    [at] = person.answered_at
    return at - pressed


@pytest.mark.parametrize("kind", GUARDED)
def test_the_chord_answers_within_a_tenth_of_a_second(person: Typist, kind: str) -> None:
    assert person.time.run(latency(person, kind, "ctrl+y")) <= CHORD
    expected = ALLOWED.get(kind, PlanReply(PlanDecision.APPROVE))
    assert [reply for _, reply in person.stage.session.answers] == [expected]


@pytest.mark.parametrize(("kind", "key"), [("edit", "y"), *((kind, "n") for kind in GUARDED)])
def test_a_letter_that_is_meant_answers_within_half_a_second(person: Typist, kind: str, key: str) -> None:
    assert person.time.run(latency(person, kind, key)) <= LETTER


@pytest.mark.parametrize("kind", [kind for kind in GUARDED if kind != "edit"])
def test_what_cannot_be_undone_is_not_allowed_by_a_letter(person: Typist, kind: str) -> None:
    assert person.scene(kind, 0, [("y", 2.0)]).answers == ()


@pytest.mark.parametrize("kind", GUARDED)
@pytest.mark.parametrize("key", ["enter", "space"])
def test_enter_and_space_alone_answer_nothing(person: Typist, kind: str, key: str) -> None:
    assert person.scene(kind, 0, [(key, 2.0)] * 3) == Outcome((), "")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_paste_answers_nothing_and_lands_in_the_draft(person: Typist, kind: str) -> None:
    async def paste() -> str:
        await opened(person, kind)
        person.stage.app.post_message(events.Paste("1\ny\n"))
        await asyncio.sleep(SETTLED)
        return person.text

    assert person.time.run(paste()) == "1y"
    assert person.stage.session.answers == []


@pytest.mark.parametrize("kind", GUARDED)
def test_a_click_before_the_dialog_is_ready_answers_nothing_and_a_later_one_does(
    person: Typist, kind: str
) -> None:
    async def click(after: float) -> list[object]:
        await person.clear()
        person.ask(kind)
        await asyncio.sleep(after)
        label = person.stage.app.screen.query(AnswerLabel).first()
        at = person.time.clock()
        label.post_message(AnswerLabel.Pressed(label.answer.choice, at))
        await asyncio.sleep(0.05)
        return [reply for _, reply in person.stage.session.answers]

    assert person.time.run(click(0.2)) == []
    assert person.time.run(click(2.0)) == [ALLOWED.get(kind, PlanReply(PlanDecision.APPROVE))]


@pytest.mark.parametrize("kind", GUARDED)
def test_the_first_keys_after_the_terminal_got_the_focus_answer_nothing(person: Typist, kind: str) -> None:
    async def come_back(after: float) -> int:
        await opened(person, kind)
        person.stage.app.post_message(events.AppBlur())
        person.stage.app.post_message(events.AppFocus())
        await asyncio.sleep(after)
        person.press("ctrl+y")
        await asyncio.sleep(0.2)
        return len(person.stage.session.answers)

    assert (person.time.run(come_back(0.2)), person.time.run(come_back(0.5))) == (0, 1)


def test_each_request_arms_afresh(person: Typist) -> None:
    async def hurry() -> int:
        await opened(person, "command")
        person.ask("edit")
        person.press("ctrl+y")
        await asyncio.sleep(0.2)
        person.press("ctrl+y")
        await asyncio.sleep(2)
        return len(person.stage.session.answers)

    assert person.time.run(hurry()) == 1


def test_a_request_waits_until_typing_has_paused_for_a_second(person: Typist) -> None:
    async def arrive(pause: float) -> bool:
        await person.clear()
        for key in ("a", "backspace"):
            person.press(key)
        await asyncio.sleep(pause)
        person.ask("edit")
        await asyncio.sleep(0.05)
        return person.stage.app.screen is not person.stage.screen

    assert (person.time.run(arrive(0.9)), person.time.run(arrive(1.1))) == (False, True)
