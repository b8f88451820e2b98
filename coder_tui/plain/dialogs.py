"""Requests as a conversation in lines: what is asked, and what a typed line answers."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import assert_never

from coder_tui.plain.words import Choice, menu_lines, options_of, plan_options, request_lines
from coder_tui.protocol.requests import (
    ApprovalReply,
    ApprovalRequest,
    Attendance,
    Decision,
    PlanDecision,
    PlanReply,
    PlanRequest,
    Question,
    QuestionAnswer,
    QuestionReply,
    QuestionRequest,
    Reply,
    Request,
)
from coder_tui.text.safe_text import safe_line, safe_text

CANCEL = "/cancel"


class Dialogue(ABC):
    """One request. A line that answers nothing yet leads to `menu` being said again, or to what follows."""

    wants_words = False
    """Whether the next line is a sentence, whatever it says."""

    def __init__(self, request_id: str) -> None:
        self.request_id = request_id

    @abstractmethod
    def opening(self) -> Iterator[str]:
        """What the question is."""

    @abstractmethod
    def menu(self) -> Iterator[str]:
        """What can be answered."""

    @abstractmethod
    def take(self, line: str) -> Reply | None:
        """The reply, once the line completes it."""


class ChoiceDialogue(Dialogue):
    """Numbered choices, some of which ask for a sentence first."""

    def __init__(self, request: ApprovalRequest | PlanRequest, choices: tuple[Choice, ...]) -> None:
        super().__init__(request.id)
        self._request = request
        self._choices = choices

    def opening(self) -> Iterator[str]:
        match self._request:
            case ApprovalRequest():
                yield from request_lines(self._request)
            case PlanRequest(plan=plan):
                yield self._request.title
                yield from (f"    {line}" for line in safe_text(plan).strip("\n").split("\n"))
            case _:
                assert_never(self._request)

    def menu(self) -> Iterator[str]:
        if self.wants_words:
            yield "Why not? The agent reads it. Type a line, then Enter:"
        else:
            yield from menu_lines(self._choices)

    def take(self, line: str) -> Reply | None:
        if self.wants_words:
            return self._refusal(line)
        if not (line.isdecimal() and 1 <= int(line) <= len(self._choices)):
            return None
        chosen = self._choices[int(line) - 1]
        self.wants_words = chosen.needs_words
        return None if chosen.needs_words else chosen.reply

    def _refusal(self, words: str) -> Reply:
        match self._request:
            case ApprovalRequest():
                return ApprovalReply(Decision.DENY, words)
            case PlanRequest():
                return PlanReply(PlanDecision.REFUSE, words)
            case _:
                assert_never(self._request)


class QuestionDialogue(Dialogue):
    """One question after the other; an empty line leaves one open."""

    def __init__(self, request: QuestionRequest) -> None:
        super().__init__(request.id)
        self._request = request
        self._answers: list[QuestionAnswer] = []

    def opening(self) -> Iterator[str]:
        yield safe_line(f"{self._request.agent} asks:" if self._request.agent else self._request.title)

    def menu(self) -> Iterator[str]:
        place, count = len(self._answers), len(self._request.questions)
        question = self._request.questions[place]
        lead = f"Question {place + 1} of {count}: " if count > 1 else ""
        yield safe_line(f"{lead}{question.question}")
        for number, option in enumerate(question.options, 1):
            about = f": {option.description}" if option.description else ""
            yield safe_line(f"  {number}  {option.label}{question.mark_of(number - 1)}{about}")
        several = "numbers" if question.multi else "a number"
        yield f"Type {several}, or words of your own; an empty line leaves it open, {CANCEL} cancels all:"

    def take(self, line: str) -> Reply | None:
        if line == CANCEL:
            return QuestionReply(Attendance.CANCELLED)
        self._answers.append(_answer(self._request.questions[len(self._answers)], line))
        if len(self._answers) < len(self._request.questions):
            return None
        return QuestionReply(Attendance.ANSWERED, tuple(self._answers))


def _answer(question: Question, line: str) -> QuestionAnswer:
    numbers = line.replace(",", " ").split()
    if not numbers or not all(word.isdecimal() for word in numbers):
        return QuestionAnswer(text=line)
    places = [int(word) - 1 for word in numbers]
    is_fitting = all(0 <= place < len(question.options) for place in places)
    if not is_fitting or (len(places) > 1 and not question.multi):
        return QuestionAnswer(text=line)
    return QuestionAnswer(tuple(question.options[place].label for place in dict.fromkeys(places)))


def dialogue(request: Request) -> Dialogue:
    match request:
        case ApprovalRequest():
            return ChoiceDialogue(request, options_of(request))
        case PlanRequest():
            return ChoiceDialogue(request, plan_options())
        case QuestionRequest():
            return QuestionDialogue(request)
        case _:
            assert_never(request)
