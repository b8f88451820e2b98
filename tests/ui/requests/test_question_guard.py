"""The guard of the questions screen as a pure machine."""

from hypothesis import given
from hypothesis import strategies as st

from coder_tui.ui.requests.key_guard import ARM, SOLO, Demoted, Passed, Stay
from coder_tui.ui.requests.question_form import (
    Applied,
    Cancelled,
    FormVerdict,
    QuestionForm,
    QuestionGuard,
    Settled,
    Then,
    Undone,
    step,
)
from tests.fakes.questions import STORAGE

READY = ARM + 0.01


def press(machine: QuestionGuard, key: str, at: float) -> FormVerdict:
    return machine.press(key, key if len(key) == 1 else None, at)


def test_keys_before_the_silence_do_nothing_and_restart_it() -> None:
    machine = QuestionGuard(0.0)
    assert press(machine, "enter", 0.3) == Passed("enter")
    assert press(machine, "enter", 0.6) == Passed("enter")
    assert press(machine, "enter", 0.6 + READY) == Applied("enter")


def test_a_digit_fills_in_at_once_and_settles_when_it_stays_alone() -> None:
    machine = QuestionGuard(0.0)
    assert press(machine, "2", READY) == Applied("2")
    assert machine.wake(READY + SOLO - 0.01) == Stay()
    assert machine.wake(READY + SOLO) == Settled()
    assert machine.release() == ""


def test_a_digit_and_enter_go_on_once_nothing_follows() -> None:
    machine = QuestionGuard(0.0)
    press(machine, "2", READY)
    assert press(machine, "enter", READY + 0.1) == Stay()
    assert machine.wake(READY + 0.1 + SOLO) == Applied("enter")


def test_a_digit_enter_and_a_letter_are_typing() -> None:
    machine = QuestionGuard(0.0)
    press(machine, "2", READY)
    press(machine, "enter", READY + 0.1)
    assert press(machine, "1", READY + 0.2) == Demoted()
    assert machine.release() == "21"


def test_several_letters_and_enter_do_not_go_on() -> None:
    machine = QuestionGuard(0.0)
    press(machine, "1", READY)
    press(machine, "2", READY + 0.1)
    assert press(machine, "enter", READY + 0.2) == Stay()
    assert machine.wake(READY + 5) == Settled()


def test_a_sentence_that_begins_with_a_digit_is_returned_in_full() -> None:
    machine = QuestionGuard(0.0)
    verdicts = [press(machine, key, READY + index / 10) for index, key in enumerate("2 m")]
    assert verdicts == [Applied("2"), Applied("space"), Demoted()]
    assert machine.release() == "2 m"


def test_backspace_undoes_the_last_letters() -> None:
    machine = QuestionGuard(0.0)
    press(machine, "2", READY)
    assert press(machine, "backspace", READY + 0.1) == Undone()
    assert machine.release() == ""


def test_an_arrow_ends_what_may_still_be_a_sentence() -> None:
    machine = QuestionGuard(0.0)
    press(machine, "1", READY)
    assert machine.wake(READY + 0.1, "down") == Settled()
    press(machine, "1", READY + 0.2)
    press(machine, "enter", READY + 0.3)
    assert machine.wake(READY + 0.4, "down") == Applied("enter")
    assert press(machine, "down", READY + 0.4) == Applied("down")
    assert machine.release() == ""


def test_only_enter_waits_on_a_page_that_just_opened() -> None:
    machine = QuestionGuard(0.0)
    machine.hold_enter(READY)
    assert press(machine, "tab", READY + 0.1) == Applied("tab")
    assert press(machine, "enter", READY + 0.2) == Stay()
    assert press(machine, "enter", READY + 0.5) == Stay()
    assert press(machine, "enter", READY + 0.5 + ARM) == Applied("enter")


def test_escape_cancels_at_any_time() -> None:
    assert press(QuestionGuard(0.0), "escape", 0.0) == Cancelled()


def test_a_paste_never_fills_anything_in() -> None:
    machine = QuestionGuard(0.0)
    press(machine, "1", READY)
    assert machine.paste("2\n") == Demoted()
    assert machine.release() == "12\n"


KEY = st.sampled_from([*"123jkhl aeé", "enter"])
TYPING = st.lists(st.tuples(KEY, st.floats(0.0, 0.3)), min_size=3, max_size=12)


@given(pause=st.floats(0.0, 3.0), typed=TYPING)
def test_typing_sends_nothing_and_loses_nothing(pause: float, typed: list[tuple[str, float]]) -> None:
    """Keys at most 300 ms apart into a form with one question, which a pick and Enter would send."""
    machine, now, draft, is_docked = QuestionGuard(0.0), pause, "", False
    form = before = QuestionForm.begin((STORAGE,))
    for key, gap in [*typed, ("a", 0.1), ("b", 0.1)]:
        now += gap
        character = key if len(key) == 1 else None
        if is_docked:
            draft += character or ""
            continue
        verdict = machine.press(key, character, now)
        if isinstance(verdict, Applied):
            form, then = step(form, verdict.key)
            assert then is not Then.SEND
            before = before if machine.has_burst else form
            if form.is_review:
                machine.hold_enter(now)  # as the screen does
        elif verdict == Demoted():
            is_docked, form = True, before
            draft += machine.release()
    assert is_docked
    assert draft == "".join(key for key, _ in typed if len(key) == 1) + "ab"
    assert not form.is_touched
