"""The form behind the questions screen, as pure steps."""

from coder_tui.protocol.requests import Attendance, QuestionAnswer, QuestionReply
from coder_tui.ui.requests.question_form import QuestionForm, Then, go_on, step
from tests.fakes.questions import RELEASE, STORAGE, TESTS

THREE = QuestionForm.begin((STORAGE, TESTS, RELEASE))


def keyed(form: QuestionForm, *keys: str) -> QuestionForm:
    for key in keys:
        form, _ = step(form, key)
    return form


def test_nothing_is_picked_at_first_and_enter_takes_no_option_that_nobody_chose() -> None:
    form, then = step(THREE, "enter")
    assert (form.page, then) == (1, Then.TURN)
    assert form.open_pages == (0, 1, 2)


def test_enter_takes_the_option_to_which_the_mark_was_moved() -> None:
    assert keyed(THREE, "down", "enter").answers()[0] == QuestionAnswer(("postgres",))


def test_a_digit_picks_one_or_toggles_one_of_several() -> None:
    assert keyed(THREE, "1", "2").answers()[0] == QuestionAnswer(("postgres",))
    several = keyed(THREE, "right", "1", "3")
    assert several.answers()[1] == QuestionAnswer(("unit", "end to end"))
    assert keyed(several, "1").answers()[1] == QuestionAnswer(("end to end",))


def test_a_digit_without_an_option_does_nothing() -> None:
    assert keyed(THREE, "9") == THREE


def test_own_words_take_the_place_of_an_option_or_join_several() -> None:
    assert keyed(THREE, "1").write("flat files").answers()[0] == QuestionAnswer((), "flat files")
    several = keyed(THREE, "right", "1").write("fuzzing")
    assert several.answers()[1] == QuestionAnswer(("unit",), "fuzzing")
    assert several.write(" ").answers()[1] == QuestionAnswer(("unit",))


def test_an_option_picked_after_own_words_is_the_answer() -> None:
    assert keyed(THREE.write("flat files"), "1").answers()[0] == QuestionAnswer(("sqlite",))


def test_a_note_alone_is_no_answer() -> None:
    form = THREE.annotate("ask ops")
    assert form.answers()[0] == QuestionAnswer(note="ask ops")
    assert form.open_pages == (0, 1, 2)
    assert form.is_touched


def test_pages_turn_back_and_forth_and_stop_at_the_ends() -> None:
    assert keyed(THREE, "left").page == 0
    assert keyed(THREE, "l", "l", "l", "l").is_review
    assert keyed(THREE, "ctrl+y", "h").page == 2
    assert keyed(THREE, "ctrl+y", "2").page == 1


def test_a_single_answered_question_is_sent_without_review_and_an_open_one_is_not() -> None:
    single = QuestionForm.begin((STORAGE,))
    assert step(keyed(single, "1"), "enter")[1] is Then.SEND
    form, then = step(single, "enter")
    assert (form.is_review, then) == (True, Then.TURN)


def test_a_question_without_options_leads_to_its_field() -> None:
    assert step(QuestionForm.begin((RELEASE,)), "enter")[1] is Then.WRITE
    assert go_on(QuestionForm.begin((RELEASE,)).write("now"))[1] is Then.SEND


def test_the_reply_has_an_answer_for_each_question() -> None:
    given = (QuestionAnswer(("sqlite",)), QuestionAnswer(), QuestionAnswer())
    assert keyed(THREE, "1").reply() == QuestionReply(Attendance.ANSWERED, given)
