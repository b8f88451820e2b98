"""The `question` tool: ask the user several questions at once, each with options or a free answer."""

import re
from collections.abc import Iterator
from typing import Annotated, assert_never
from uuid import uuid4

from pydantic import Field, StringConstraints, field_validator

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.protocol.requests import Attendance, Option, Question, QuestionAnswer, QuestionRequest
from coder_tui.tools.base import Audience, Params, PureTool, ToolContext, ToolResult
from coder_tui.tools.ports import Asker

MOST_QUESTIONS = 8
MOST_OPTIONS = 8
"""A digit picks an option, and one more digit is for a free answer."""
_MARK = re.compile(r"(?<=\S)\s*\(recommended\)$", re.IGNORECASE)
NOBODY = (
    "Nobody is there to answer. Decide yourself: take the option that you recommended for each question, or "
    "the first, unless something speaks against it. Continue, and say at the end what you decided, and why."
)
CANCELLED = "the user closed the questions without answering any"
LEFT_OPEN = "(not answered: decide yourself)"

_Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class GivenOption(Params):
    label: Annotated[_Words, Field(max_length=200)]
    description: str = Field(default="", max_length=1_000)


class GivenQuestion(Params):
    question: Annotated[_Words, Field(max_length=2_000)]
    options: list[GivenOption] = Field(min_length=2, max_length=MOST_OPTIONS)
    multi: bool = False

    @field_validator("options")
    @classmethod
    def _labels_differ(cls, options: list[GivenOption]) -> list[GivenOption]:
        if len({_bare(option.label).casefold() for option in options}) != len(options):
            raise ValueError("two options have the same label")
        return options


class QuestionParams(Params):
    questions: list[GivenQuestion] = Field(min_length=1, max_length=MOST_QUESTIONS)


class QuestionTool(PureTool[QuestionParams]):
    name = "question"
    kind = ToolKind.THINK
    display_name = "Question"
    params = QuestionParams
    audience = Audience.MAIN
    permission = "question"

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    def variables(self) -> dict[str, object]:
        return {"most_questions": MOST_QUESTIONS, "most_options": MOST_OPTIONS}

    def summary(self, params: QuestionParams) -> str:
        first, count = params.questions[0].question, len(params.questions)
        return first if count == 1 else f"{first} (and {count - 1} more)"

    async def run(self, params: QuestionParams, ctx: ToolContext) -> ToolResult:
        questions = tuple(map(_question, params.questions))
        reply = await self._asker.ask(QuestionRequest(uuid4().hex, ctx.call_id, questions))
        match reply.attendance:
            case Attendance.ANSWERED:
                pairs = zip(questions, reply.answers, strict=True)
                answers = "\n".join(
                    line for pair in enumerate(pairs, 1) for line in _answer_lines(pair[0], *pair[1])
                )
                return ToolResult({"ok": True, "answers": answers}, TextBlock(answers))
            case Attendance.CANCELLED:
                raise ToolError(
                    ErrorType.CANCELLED,
                    CANCELLED,
                    "Do not ask the same again; continue without an answer, or say what you need.",
                )
            case Attendance.NOBODY_THERE:
                return ToolResult({"ok": True, "answers": NOBODY}, TextBlock("nobody is there to answer"))
            case _:
                assert_never(reply.attendance)


def _question(given: GivenQuestion) -> Question:
    """Keep the model's mark as a property of its option; each screen shows it in its own way."""
    options = (
        Option(_bare(each.label), each.description, _bare(each.label) != each.label) for each in given.options
    )
    return Question(given.question, tuple(options), given.multi)


def _bare(label: str) -> str:
    return _MARK.sub("", label)


def _answer_lines(number: int, question: Question, answer: QuestionAnswer) -> Iterator[str]:
    yield f"{number}. {question.question}"
    if answer.picked:
        yield f"   {', '.join(answer.picked)}"
    if answer.text:
        yield f"   in their own words: {answer.text}"
    if not answer.is_given:
        yield f"   {LEFT_OPEN}"
    if answer.note:
        yield f"   note: {answer.note}"
