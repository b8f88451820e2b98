"""`question`: what the user is asked, and what the model gets."""

import json
from pathlib import Path
from typing import Any

import pytest

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.protocol.requests import (
    Attendance,
    Option,
    Question,
    QuestionAnswer,
    QuestionReply,
    QuestionRequest,
)
from coder_tui.tools.arguments import parse_call
from coder_tui.tools.base import ToolContext
from coder_tui.tools.builtin.question import CANCELLED, LEFT_OPEN, NOBODY, QuestionTool
from tests.fakes.fake_user import FakeUser

CONTEXT = ToolContext("s", "c1", Path("/srv"))
STORAGE = {
    "question": "Where to?",
    "options": [{"label": "sqlite (Recommended)", "description": "one file"}, {"label": "postgres"}],
}
TESTS = {"question": "Which tests?", "options": [{"label": "unit"}, {"label": "e2e"}], "multi": True}


async def answered(reply: QuestionReply, *questions: dict[str, Any]) -> tuple[dict[str, Any], FakeUser]:
    user = FakeUser([reply])
    tool = QuestionTool(user)
    params = tool.params.model_validate({"questions": questions})
    return (await tool.run(params, CONTEXT)).for_model, user


async def test_several_questions_are_put_together_and_answered_in_order() -> None:
    reply = QuestionReply(
        Attendance.ANSWERED,
        (QuestionAnswer(("sqlite",), note="keep it small"), QuestionAnswer(("unit", "e2e"), "and a soak")),
    )
    fields, user = await answered(reply, STORAGE, TESTS)
    asked = user.asked[0]
    assert asked.call_id == "c1"
    assert getattr(asked, "questions", ()) == (
        Question("Where to?", (Option("sqlite", "one file", is_recommended=True), Option("postgres"))),
        Question("Which tests?", (Option("unit"), Option("e2e")), multi=True),
    )
    assert fields == {
        "ok": True,
        "answers": "1. Where to?\n   sqlite\n   note: keep it small\n"
        "2. Which tests?\n   unit, e2e\n   in their own words: and a soak",
    }


@pytest.mark.parametrize(
    ("labels", "recommended"),
    [
        (("delete all", "keep a backup (Recommended)"), (1,)),
        (("delete all", "keep a backup (recommended)"), (1,)),
        (("delete all (Recommended)", "keep a backup (Recommended)"), (0, 1)),
        (("delete all", "keep a backup"), (0,)),
    ],
)
async def test_the_mark_of_the_model_stays_on_its_option(
    labels: tuple[str, str], recommended: tuple[int, ...]
) -> None:
    options = [{"label": label} for label in labels]
    reply = QuestionReply(Attendance.ANSWERED, (QuestionAnswer(),))
    _, user = await answered(reply, {"question": "Clean up?", "options": options})
    asked = user.asked[0]
    assert isinstance(asked, QuestionRequest)
    assert [option.label for option in asked.questions[0].options] == ["delete all", "keep a backup"]
    assert asked.questions[0].recommended == recommended


async def test_a_question_that_was_left_open_is_the_models_to_decide() -> None:
    fields, _ = await answered(QuestionReply(Attendance.ANSWERED, (QuestionAnswer(),)), STORAGE)
    assert fields == {"ok": True, "answers": f"1. Where to?\n   {LEFT_OPEN}"}


async def test_cancelling_tells_nothing_of_the_answers() -> None:
    with pytest.raises(ToolError) as caught:
        await answered(QuestionReply(Attendance.CANCELLED, (QuestionAnswer(("sqlite",)),)), STORAGE)
    assert (caught.value.type, caught.value.message) == (ErrorType.CANCELLED, CANCELLED)
    assert "sqlite" not in str(vars(caught.value))


async def test_without_a_user_the_model_decides() -> None:
    fields, _ = await answered(QuestionReply(Attendance.NOBODY_THERE), STORAGE)
    assert fields == {"ok": True, "answers": NOBODY}


BAD: dict[str, tuple[Any, str]] = {
    "no questions": ({"questions": []}, "questions: List should have at least 1 item"),
    "no options": (
        {"questions": [{"question": "Which?", "options": []}]},
        "questions.0.options: List should",
    ),
    "options missing": ({"questions": [{"question": "Which?"}]}, "questions.0.options: Field required"),
    "thirty options": (
        {"questions": [{"question": "Which?", "options": [{"label": f"o{n}"} for n in range(30)]}]},
        "questions.0.options: List should have at most 8 items",
    ),
    "thirty questions": ({"questions": [STORAGE] * 30}, "questions: List should have at most 8 items"),
    "blank question": (
        {"questions": [{"question": " ", "options": STORAGE["options"]}]},
        "questions.0.question: String should have at least 1 character",
    ),
    "same labels": (
        {"questions": [{"question": "Which?", "options": [{"label": "a"}, {"label": "A"}]}]},
        "two options have the same label",
    ),
    "options as text": ({"questions": [{"question": "Which?", "options": "a, b"}]}, "questions.0.options"),
    "unknown field": ({"questions": [STORAGE | {"default": 1}]}, "questions.0.default: Extra inputs"),
    "huge": ({"questions": [{"question": "x" * 1_000_000, "options": STORAGE["options"]}]}, "at most 2000"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_questions_can_be_repaired(name: str) -> None:
    arguments, said = BAD[name]
    with pytest.raises(ToolError) as caught:
        parse_call(QuestionTool(FakeUser([])), json.dumps(arguments))
    assert caught.value.type is ErrorType.INVALID_TOOL_PARAMS
    assert caught.value.message.startswith("invalid args: ")
    assert said in caught.value.message
    assert len(caught.value.message) < 1_000
