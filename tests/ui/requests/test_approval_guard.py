"""The guard alone: typing answers nothing and loses nothing, and a deliberate key acts quickly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coder_tui.ui.requests.key_guard import (
    ARM,
    SOLO,
    ApprovalGuard,
    Choice,
    Chosen,
    Demoted,
    Moved,
    Passed,
    Picked,
    Stay,
    Step,
    Verdict,
)

LETTERS = {
    "y": Choice.ALLOW,
    "n": Choice.DENY,
    "d": Choice.EXPLAIN,
    "a": Choice.ALWAYS,
    "e": Choice.EDIT,
    "v": Choice.SHOW,
}
READY = ARM + 0.01


def guard(scopes: int = 2) -> ApprovalGuard:
    return ApprovalGuard(LETTERS, scopes, opened_at=0.0)


def press(machine: ApprovalGuard, key: str, at: float) -> Verdict:
    return machine.press(key, key if len(key) == 1 else None, at)


def test_a_key_pressed_before_the_silence_does_nothing_and_restarts_it() -> None:
    machine = guard()
    assert press(machine, "ctrl+y", 0.3) == Passed("ctrl+y")
    assert press(machine, "ctrl+y", 0.6) == Passed("ctrl+y")
    assert press(machine, "ctrl+y", 0.6 + READY) == Chosen(Choice.ALLOW)


def test_the_chord_answers_at_once_and_a_letter_after_it_stayed_alone() -> None:
    assert press(guard(), "ctrl+y", READY) == Chosen(Choice.ALLOW)
    machine = guard()
    assert press(machine, "y", READY) == Stay()
    assert machine.wake(READY + SOLO - 0.01) == Stay()
    assert machine.wakes_at == pytest.approx(READY + SOLO)
    assert machine.wake(READY + SOLO) == Chosen(Choice.ALLOW)
    assert machine.release() == ""


def test_a_letter_followed_by_another_is_typing() -> None:
    machine = guard()
    press(machine, "y", READY)
    assert press(machine, "e", READY + 0.2) == Demoted()
    assert machine.release() == "ye"


def test_a_letter_followed_late_by_another_is_typing_when_the_timer_did_not_come_first() -> None:
    machine = guard()
    press(machine, "n", READY)
    assert press(machine, "o", READY + 2.0) == Demoted()
    assert machine.release() == "no"


def test_one_early_answer_leaves_the_dialog_open_and_goes_to_the_draft() -> None:
    machine = guard()
    assert press(machine, "y", 0.1) == Stay()
    assert not machine.is_ready(0.1 + ARM - 0.01)
    assert press(machine, "ctrl+y", 0.1 + READY) == Chosen(Choice.ALLOW)
    assert machine.release() == "y"


def test_a_letter_that_is_no_answer_goes_to_the_draft() -> None:
    machine = ApprovalGuard({"n": Choice.DENY}, 0, opened_at=0.0)
    assert press(machine, "y", READY) == Demoted()
    assert machine.release() == "y"


@pytest.mark.parametrize("at", [0.1, READY])
def test_enter_alone_never_answers(at: float) -> None:
    machine = guard()
    assert machine.press("enter", "\r", at) in {Stay(), Passed("enter")}
    assert machine.wake(at + 5) == Stay()


def test_space_is_typing_unless_an_answer_was_marked() -> None:
    assert guard().press("space", " ", READY) == Demoted()
    machine = guard()
    assert press(machine, "tab", READY) == Moved(1)
    machine.focused = Choice.DENY
    assert machine.press("space", " ", READY + 0.1) == Chosen(Choice.DENY)
    assert machine.press("enter", None, READY + 0.1) == Chosen(Choice.DENY)


def test_backspace_removes_a_letter() -> None:
    machine = guard()
    press(machine, "n", READY)
    assert press(machine, "backspace", READY + 0.1) == Stay()
    assert machine.wake(READY + 5) == Stay()
    assert machine.release() == ""


def test_a_paste_never_answers() -> None:
    machine = guard()
    assert machine.paste("y\n") == Demoted()
    assert machine.release() == "y\n"


def test_regaining_the_focus_guards_keys_and_clicks_again() -> None:
    machine = guard()
    machine.rearm(5.0)
    assert not machine.is_ready(5.0 + ARM - 0.01)
    assert machine.click(Choice.ALLOW, 5.1) == Stay()
    assert machine.click(Choice.ALLOW, 7.0) == Chosen(Choice.ALLOW)


def test_escape_cancels_at_any_time_and_leaves_the_scopes_first() -> None:
    assert press(guard(), "escape", 0.0) == Chosen(Choice.CANCEL)
    machine = guard()
    machine.enter(Step.SCOPE)
    assert press(machine, "escape", READY) == Stay()
    assert machine.step is Step.ASK


def test_a_scope_is_picked_by_digit_and_only_an_offered_one() -> None:
    machine = guard(scopes=2)
    machine.enter(Step.SCOPE)
    assert press(machine, "2", READY) == Picked(1)
    assert press(machine, "3", READY + 1) == Demoted()
    assert machine.release() == "3"


KEY = st.sampled_from([*"abdehinoty12 é", "enter"])
TYPING = st.tuples(KEY, st.floats(0.0, 0.3))


@given(
    before=st.lists(TYPING, max_size=5),
    pause=st.floats(0.0, 3.0),
    after=st.lists(TYPING, min_size=2, max_size=12),
    is_undoable=st.booleans(),
)
def test_typing_answers_nothing_and_loses_nothing(
    before: list[tuple[str, float]], pause: float, after: list[tuple[str, float]], is_undoable: bool
) -> None:
    """Keys at most 300 ms apart; the dialog opens among them, armed or not yet when they go on."""
    letters = {key: choice for key, choice in LETTERS.items() if is_undoable or key != "y"}
    draft = "".join(key for key, _ in before if len(key) == 1)
    now = sum(gap for _, gap in before)
    machine = ApprovalGuard(letters, 2, opened_at=now)
    is_docked = False
    now += pause
    for key, gap in after:
        now += gap
        character = key if len(key) == 1 else None
        if is_docked:
            draft += character or ""
            continue
        assert machine.wake(now) == Stay()
        verdict = machine.press(key, character, now)
        assert verdict in {Stay(), Demoted(), Passed(key)}
        if verdict == Demoted():
            is_docked = True
            draft += machine.release()
    assert machine.wake(now + 5) == Stay()
    assert draft + machine.release() == "".join(key for key, _ in before + after if len(key) == 1)
