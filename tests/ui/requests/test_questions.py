"""Questions on the real screen: filled in by keys, sent after a review, cancelled by one Esc."""

from textual import events

from coder_tui.protocol.events import RequestClosed, RequestOpened
from coder_tui.protocol.requests import (
    Attendance,
    Option,
    Question,
    QuestionAnswer,
    QuestionReply,
    QuestionRequest,
)
from coder_tui.ui.requests.questions import QuestionsScreen
from tests.fakes.questions import RELEASE, STORAGE, TESTS, questions
from tests.fakes.screens import Stage, clock, stage

CANCELLED = QuestionReply(Attendance.CANCELLED)


def form_of(s: Stage) -> QuestionsScreen | None:
    top = s.app.screen
    return top if isinstance(top, QuestionsScreen) else None


async def ready(s: Stage) -> QuestionsScreen:
    await s.until(lambda: (form := form_of(s)) is not None and form.is_ready and not form.guard.has_burst)
    await s.pilot.pause()
    form = form_of(s)
    assert form is not None
    return form


async def opened(s: Stage, request: QuestionRequest) -> QuestionsScreen:
    s.session.emit(RequestOpened(request))
    return await ready(s)


def answered(*answers: QuestionAnswer) -> QuestionReply:
    return QuestionReply(Attendance.ANSWERED, answers)


async def test_a_digit_and_enter_answer_a_single_question() -> None:
    async with stage() as s:
        await opened(s, questions(STORAGE))
        await s.pilot.press("2", "enter")
        reply = answered(QuestionAnswer(("postgres",)))
        await s.until(lambda: s.session.answers == [("q1", reply)])
        await s.until(lambda: s.app.screen is s.screen)
        assert s.screen.focused is s.screen.prompt
        assert s.draft == ""


async def test_the_recommended_option_is_marked_and_not_picked() -> None:
    async with stage(size=(80, 24)) as s:
        await opened(s, questions(STORAGE))
        await s.shows("❯ 1 ( ) sqlite (Recommended)")
        await s.pilot.press("enter")
        await s.shows("1 not answered")
        assert s.session.answers == []


async def test_the_recommended_option_has_the_mark() -> None:
    asked = Question("Clean up?", (Option("delete all"), Option("keep a backup", is_recommended=True)))
    async with stage(size=(80, 24)) as s:
        await opened(s, questions(asked))
        await s.shows("❯ 2 ( ) keep a backup (Recommended)")
        assert s.drawn().count("(Recommended)") == 1


async def test_several_questions_end_on_a_page_with_all_answers() -> None:
    async with stage(size=(80, 24)) as s:
        await opened(s, questions())
        await s.pilot.press(
            "1", "enter", "down", "up", "space", "down", "down", "space", "tab", *"both", "enter"
        )
        await s.pilot.press("right", "down", *"by friday", "enter")
        await s.until(lambda: "note: both" in s.drawn() and "✓ by friday" in s.drawn())
        await ready(s)
        await s.pilot.press("enter")
        reply = answered(
            QuestionAnswer(("sqlite",)),
            QuestionAnswer(("unit", "end to end"), note="both"),
            QuestionAnswer(text="by friday"),
        )
        await s.until(lambda: s.session.answers == [("q1", reply)])


async def test_sending_with_unanswered_questions_needs_confirmation() -> None:
    async with stage() as s:
        await opened(s, questions(STORAGE, TESTS))
        await s.pilot.press("1")
        await ready(s)
        await s.pilot.press("ctrl+y")
        await ready(s)
        await s.pilot.press("enter")
        await s.shows("One question is not answered. Press Enter again to send")
        assert s.session.answers == []
        await ready(s)
        await s.pilot.press("enter")
        reply = answered(QuestionAnswer(("sqlite",)), QuestionAnswer())
        await s.until(lambda: s.session.answers == [("q1", reply)])


async def test_a_held_enter_does_not_reach_the_end() -> None:
    async with stage() as s:
        await opened(s, questions(STORAGE, TESTS))
        for _ in range(20):
            s.app.post_message(events.Key("enter", "\r"))
        await s.shows("Your answers")
        await ready(s)
        assert s.session.answers == []


async def test_typing_over_the_questions_goes_to_the_draft_and_fills_nothing_in() -> None:
    async with stage() as s:
        form = await opened(s, questions(STORAGE))
        for character in "2 more things\n":
            key = {" ": "space", "\n": "enter"}.get(character, character)
            s.app.post_message(events.Key(key, character))
        await s.until(lambda: s.session.submitted == ["2 more things"])
        assert s.session.answers == []
        assert not form.form.is_touched


async def test_questions_wait_while_something_is_composed() -> None:
    async with stage() as s:
        await s.pilot.press(*"draft 1")
        s.session.emit(RequestOpened(questions(STORAGE)))
        await s.pilot.press("2")
        await s.shows("question Storage — waiting for you  F8 answer")
        assert (s.draft, s.session.answers) == ("draft 12", [])
        await s.pilot.press("f8")
        await ready(s)
        await s.pilot.press("1", "enter")
        await s.until(lambda: s.session.answers == [("q1", answered(QuestionAnswer(("sqlite",))))])
        assert s.draft == "draft 12"


async def test_escape_cancels_all_from_within_a_field_and_the_model_learns_nothing_else() -> None:
    async with stage() as s:
        await opened(s, questions())
        await s.pilot.press("2")
        await ready(s)
        await s.pilot.press("right", "tab", *"hm", "escape")
        await s.until(lambda: s.session.answers == [("q1", CANCELLED)])
        await s.until(lambda: s.app.screen is s.screen)
        assert s.draft == ""


async def test_cancelled_questions_can_be_reopened_and_sent_as_a_message() -> None:
    async with stage() as s:
        await opened(s, questions(STORAGE, TESTS))
        await s.pilot.press("2")
        await ready(s)
        await s.pilot.press("escape")
        s.session.emit(RequestClosed("q1", CANCELLED))
        await s.shows("questions cancelled · F8 reopen")
        await s.pilot.press("f8")
        form = await ready(s)
        assert form.form.answers()[0] == QuestionAnswer(("postgres",))
        await s.pilot.press("right", "1")
        await ready(s)
        await s.pilot.press("ctrl+y")
        await ready(s)
        await s.pilot.press("enter")
        words = "Where should sessions be kept?\npostgres\n\nWhich tests should I add?\nunit"
        await s.until(lambda: s.session.submitted == [words])
        assert s.session.answers == [("q1", CANCELLED)]
        await s.until(lambda: "F8 reopen" not in s.drawn())


async def test_reopened_questions_that_are_cancelled_again_stay_here() -> None:
    async with stage() as s:
        await opened(s, questions(STORAGE))
        await s.pilot.press("2")
        await ready(s)
        await s.pilot.press("escape")
        await s.shows("F8 reopen")
        await s.pilot.press("f8")
        await ready(s)
        await s.pilot.press("escape")
        await s.until(lambda: s.app.screen is s.screen and "F8 reopen" in s.drawn())
        assert (s.session.answers, s.session.submitted) == ([("q1", CANCELLED)], [])


async def test_what_was_filled_in_of_withdrawn_questions_can_be_reopened() -> None:
    async with stage() as s:
        await opened(s, questions(STORAGE))
        await s.pilot.press("2")
        await ready(s)
        s.session.emit(RequestClosed("q1", None))
        await s.shows("questions cancelled · F8 reopen")
        assert s.session.answers == []


async def test_docked_questions_that_are_withdrawn_can_be_reopened() -> None:
    async with stage() as s:
        await opened(s, questions(STORAGE))
        await s.pilot.press("2")
        await ready(s)
        await s.pilot.press("x")
        await s.until(lambda: s.draft == "x")
        s.session.emit(RequestClosed("q1", None))
        await s.shows("questions cancelled · F8 reopen")


async def test_cancelling_an_untouched_form_leaves_nothing_to_reopen() -> None:
    async with stage() as s:
        await opened(s, questions(STORAGE))
        await s.pilot.press("escape")
        await s.until(lambda: s.app.screen is s.screen)
        assert "F8 reopen" not in s.drawn()
        assert not s.screen.widgets.presenter.has_requests


async def test_sending_another_message_drops_cancelled_questions() -> None:
    async with stage() as s:
        await opened(s, questions(STORAGE))
        await s.pilot.press("2")
        await ready(s)
        await s.pilot.press("escape")
        await s.shows("F8 reopen")
        await s.pilot.press(*"go", "enter")
        await s.until(lambda: "F8 reopen" not in s.drawn())


async def test_docked_questions_come_back_as_they_were_left() -> None:
    async with stage() as s:
        await opened(s, questions(STORAGE, RELEASE))
        await s.pilot.press("1")
        await ready(s)
        await s.pilot.press("x")
        await s.until(lambda: s.app.screen is s.screen and s.draft == "x")
        await s.pilot.press("f8")
        form = await ready(s)
        assert form.form.answers()[0] == QuestionAnswer(("sqlite",))
        assert s.session.answers == []


async def test_own_text_is_typed_at_the_mark_and_left_with_up() -> None:
    async with stage() as s:
        await opened(s, questions(STORAGE))
        await s.pilot.press("down", "down", *"1 file", "up")
        form = await ready(s)
        assert form.focused is None
        assert form.form.answers()[0] == QuestionAnswer(text="1 file")
        await s.pilot.press("1", "enter")
        await s.until(lambda: s.session.answers == [("q1", answered(QuestionAnswer(("sqlite",))))])


async def test_the_digit_of_something_else_shows_a_field_for_it() -> None:
    async with stage() as s:
        await opened(s, questions(STORAGE))
        await s.pilot.press("3", *"a file")
        await s.shows("in your own words")
        await s.pilot.press("enter")
        await s.until(lambda: s.session.answers == [("q1", answered(QuestionAnswer(text="a file")))])


async def test_letters_that_were_due_while_the_screen_was_busy_are_settled_by_the_next_key() -> None:
    async with stage() as s:
        form = await opened(s, questions(STORAGE))
        at = clock()
        # Both lie in the queue when the first is looked at: only their times tell them apart.
        for key, pressed_at in (("2", at), ("x", at + 1)):
            event = events.Key(key, key)
            event.time = pressed_at
            s.app.post_message(event)
        await s.until(lambda: s.app.screen is s.screen)
        assert (s.draft, form.form.answers()[0]) == ("x", QuestionAnswer(("postgres",)))


async def test_many_long_options_wrap_and_scroll_with_the_mark() -> None:
    options = tuple(Option(f"option {number} {'long ' * 20}end{number}") for number in range(1, 13))
    async with stage(size=(80, 24)) as s:
        await opened(s, questions(Question("Which?", options)))
        await s.shows("1 ( ) option 1 long")
        assert "option 12" not in s.drawn()
        await s.pilot.press(*["down"] * 11)
        await s.shows("end12")
        await s.pilot.press("enter")
        await s.until(lambda: s.session.answers == [("q1", answered(QuestionAnswer((options[11].label,))))])


async def test_very_long_texts_say_how_much_is_not_drawn() -> None:
    async with stage(size=(200, 50)) as s:
        await opened(s, questions(Question("Which?", (Option("x" * 1_000_000), Option("short")))))
        await s.pilot.press("down")
        await s.shows("996000 more characters (Recommended)")


async def test_a_click_picks_an_option() -> None:
    async with stage() as s:
        form = await opened(s, questions(STORAGE))
        row = next(y for y, line in enumerate(s.drawn().splitlines()) if "postgres" in line)
        await s.pilot.click(offset=(20, row))
        await s.until(lambda: form.form.answers()[0] == QuestionAnswer(("postgres",)))
        assert s.session.answers == []


async def test_withdrawn_questions_close() -> None:
    async with stage() as s:
        await opened(s, questions(STORAGE))
        s.session.emit(RequestClosed("q1", None))
        await s.until(lambda: s.app.screen is s.screen)
        assert s.session.answers == []


async def test_hostile_text_is_shown_and_never_obeyed() -> None:
    evil = "[@click=app.quit]x[/] \u202e\x1b[2J"
    async with stage() as s:
        await opened(s, questions(Question(evil, (Option(evil, evil),), header=evil), RELEASE))
        await s.shows("[@click=app.quit]x[/] <U+202E>␛[2J")
        assert not {"\x1b", "\u202e"} & set(s.drawn())
