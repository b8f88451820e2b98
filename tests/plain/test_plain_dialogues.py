"""Questions and plans as numbered menus."""

import pytest

from coder_tui.plain.dialogs import CANCEL, LineDialog, make_dialog
from coder_tui.protocol.requests import (
    Attendance,
    Option,
    PlanDecision,
    PlanReply,
    Question,
    QuestionAnswer,
    QuestionReply,
    Reply,
)
from tests.fakes.questions import PLAN, STORAGE, plan, questions


def said(talk: LineDialog, *lines: str) -> Reply | None:
    reply = None
    for line in lines:
        assert reply is None
        reply = talk.answer(line)
    return reply


def test_questions_are_asked_one_at_a_time_and_an_empty_line_skips_one() -> None:
    talk = make_dialog(questions())
    assert list(talk.opening()) == ["3 questions for you"]
    assert list(talk.menu())[:3] == [
        "Question 1 of 3: Where should sessions be kept?",
        "  1  sqlite (Recommended): One file, no server; full-text search is built in.",
        "  2  postgres: For many users at once.",
    ]
    assert said(talk, "2", "1, 3", "") == QuestionReply(
        Attendance.ANSWERED,
        (QuestionAnswer(("postgres",)), QuestionAnswer(("unit", "end to end")), QuestionAnswer()),
    )


def test_the_recommended_option_has_the_mark() -> None:
    asked = Question("Clean up?", (Option("delete all"), Option("keep a backup", is_recommended=True)))
    assert list(make_dialog(questions(asked)).menu())[1:3] == [
        "  1  delete all",
        "  2  keep a backup (Recommended)",
    ]


@pytest.mark.parametrize("line", ["flat files", "3", "1 2", "0", "²"])
def test_anything_but_the_number_of_an_option_is_a_free_text_answer(line: str) -> None:
    reply = QuestionReply(Attendance.ANSWERED, (QuestionAnswer(text=line),))
    assert said(make_dialog(questions(STORAGE)), line) == reply


def test_all_are_cancelled_at_any_question() -> None:
    assert said(make_dialog(questions()), "1", CANCEL) == QuestionReply(Attendance.CANCELLED)


def test_a_plan_is_printed_and_answered_by_number_or_with_a_reason() -> None:
    talk = make_dialog(plan())
    assert list(talk.opening())[:2] == ["Carry out this plan?", f"    {PLAN.splitlines()[0]}"]
    assert said(talk, "nonsense", "1") == PlanReply(PlanDecision.APPROVE)
    assert said(make_dialog(plan()), "3", "test first") == PlanReply(PlanDecision.REFUSE, "test first")
