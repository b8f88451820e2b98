"""Blocks, calls and requests as text: what happened, what is asked, and what a typed line answers."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import assert_never

from coder_tui.agent.diagnostics.format import UNKNOWN, WHY_UNKNOWN, format_unchecked
from coder_tui.protocol import display
from coder_tui.protocol.diagnostics import IS_AWAITED, ProposalCheck, ServerStatus
from coder_tui.protocol.display import DisplayBlock
from coder_tui.protocol.events import ToolFinished
from coder_tui.protocol.outcomes import Outcome
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

FIRST_LINES, LAST_LINES = 10, 20
SHORT = 4
_STATES = {
    Outcome.OK: "done",
    Outcome.FAILED: "failed",
    Outcome.DENIED: "denied",
    Outcome.CANCELLED: "stopped",
}


def block_text(block: DisplayBlock) -> str:
    """Return the whole block, safe to print."""
    match block:
        case display.TextBlock(text) | display.MarkdownBlock(text):
            return safe_text(text).strip("\n")
        case display.DiffBlock(diff=diff):
            return safe_text(diff).strip("\n")
        case display.TerminalBlock(command, output, code):
            ended = "" if code is None else f"exit code {code}"
            return safe_text("\n".join(part for part in (f"$ {command}", output.strip("\n"), ended) if part))
        case display.TodosBlock(items):
            return "\n".join(f"{item.status.replace('_', ' ')}: {safe_line(item.content)}" for item in items)
        case display.TableBlock(columns, rows):
            return "\n".join(", ".join(map(safe_line, row)) for row in (columns, *rows))
        case display.ImageBlock():
            return f"picture: {safe_line(block.describe())}"
        case display.SubagentsBlock(children):
            return "\n".join(
                f"{safe_line(child.agent)}, {child.state}: {safe_text(child.summary or child.task)}"
                for child in children
            )
        case _:
            assert_never(block)


def finished_text(event: ToolFinished) -> str:
    """Return the output of a call. Changes and failures are shown; other output only if it is short."""
    text = block_text(event.display)
    lines = text.count("\n") + 1
    is_folded = event.outcome is Outcome.OK and not isinstance(event.display, display.DiffBlock)
    if is_folded and lines > SHORT:
        return f"({lines} lines; /show prints them)"
    return shortened(text)


def shortened(text: str) -> str:
    """Return the beginning and the end of a long text. /show prints the rest."""
    lines = text.split("\n")
    hidden = len(lines) - FIRST_LINES - LAST_LINES
    if hidden <= 1:
        return text
    middle = f"({hidden} lines left out; /show prints all)"
    return "\n".join([*lines[:FIRST_LINES], middle, *lines[-LAST_LINES:]])


def call_line(event: ToolFinished) -> str:
    seconds = f", {event.duration_ms / 1000:.1f} seconds" if event.duration_ms >= 100 else ""
    return safe_line(f"[{event.tool}] {event.summary}: {_STATES[event.outcome]}{seconds}")


def check_lines(check: ProposalCheck) -> Iterator[str]:
    """Describe what language servers report about a proposed change. Nothing while they still check."""
    is_no_news = check.status is ServerStatus.UNSUPPORTED and not check.detail
    if is_no_news or (check.status in IS_AWAITED and not check.introduced):
        return
    yield f"Language server: {_describe_check(check)}."
    for item in check.introduced:
        first = item.message.partition("\n")[0]
        said = " ".join(filter(None, (item.source, item.code)))
        yield f"    {item.path}:{item.line}:{item.character} {first}{f' ({said})' if said else ''}"


def _describe_check(check: ProposalCheck) -> str:
    counts = str(check.counts)
    if check.unchecked:
        return format_unchecked(counts or "no new problems", check.unchecked)
    if not check.is_known:
        return f"{counts} so far" if counts else WHY_UNKNOWN.get(check.status, UNKNOWN)
    if not counts:
        is_partly = check.status is ServerStatus.LINTER_MISSING
        return "only partly checked, a linter is missing" if is_partly else "no new problems"
    return counts if check.is_compared else f"{counts.replace('+', '')} (old or new)"


CANCEL = "/cancel"


@dataclass(frozen=True, slots=True)
class Choice:
    """A line of a numbered menu. If its reply is a function, the user types a sentence for it first."""

    words: str
    reply: Reply | Callable[[str], Reply]


def request_lines(request: ApprovalRequest) -> Iterator[str]:
    who = f"{request.agent} asks: " if request.agent else ""
    yield safe_line(f"{who}{request.title}")
    yield from (f"    {line}" for line in block_text(request.preview).split("\n"))
    facts = [*map(str, request.findings), *request.facts]
    facts.append(_describe_undo(request))
    if request.sandbox:
        facts.append(f"sandbox: {request.sandbox}")
    if request.rule:
        facts.append(f"rule: {request.rule}")
    yield from (f"  - {safe_line(fact)}" for fact in facts)


def _describe_undo(request: ApprovalRequest) -> str:
    if request.is_undoable:
        return "this can be undone"
    if request.is_command:
        return "/undo restores files in this folder, except ignored or very large ones, and nothing else"
    return "this cannot be undone"


def approval_choices(request: ApprovalRequest) -> tuple[Choice, ...]:
    always = (
        Choice(f"allow always: {safe_line(each.label)}", ApprovalReply(Decision.ALLOW_ALWAYS, grant=each))
        for each in request.grants
    )
    return (
        Choice("allow once", ApprovalReply(Decision.ALLOW_ONCE)),
        Choice("deny", ApprovalReply(Decision.DENY)),
        Choice("deny and say why", partial(ApprovalReply, Decision.DENY)),
        Choice("stop the turn" if request.is_in_turn else "cancel", ApprovalReply(Decision.CANCEL_TURN)),
        *always,
    )


PLAN_CHOICES = (
    Choice("carry it out", PlanReply(PlanDecision.APPROVE)),
    Choice("keep planning", PlanReply(PlanDecision.REFUSE)),
    Choice("keep planning and say why", partial(PlanReply, PlanDecision.REFUSE)),
)


class ChoiceDialog:
    """A request with numbered choices. Some ask for a sentence first."""

    def __init__(self, request_id: str, opening: Iterable[str], choices: tuple[Choice, ...]) -> None:
        self.request_id = request_id
        self._opening = tuple(opening)
        self._choices = choices
        self._refuse: Callable[[str], Reply] | None = None

    @property
    def wants_sentence(self) -> bool:
        return self._refuse is not None

    def opening(self) -> Iterable[str]:
        return self._opening

    def menu(self) -> Iterator[str]:
        if self.wants_sentence:
            yield "Why not? The agent will read it. Type a line, then press Enter:"
            return
        for number, option in enumerate(self._choices, 1):
            yield f"  {number}  {option.words}"
        yield f"Type a number from 1 to {len(self._choices)}, then press Enter:"

    def answer(self, line: str) -> Reply | None:
        if self._refuse is not None:
            return self._refuse(line)
        if not (line.isdecimal() and 1 <= int(line) <= len(self._choices)):
            return None
        reply = self._choices[int(line) - 1].reply
        if not callable(reply):
            return reply
        self._refuse = reply
        return None


class QuestionDialog:
    """Asks one question after the other. An empty line skips a question."""

    wants_sentence = False

    def __init__(self, request: QuestionRequest) -> None:
        self.request_id = request.id
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
        choice = "one or more numbers" if question.multi else "a number"
        yield f"Type {choice} or your own answer. An empty line skips the question, {CANCEL} cancels all:"

    def answer(self, line: str) -> Reply | None:
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


LineDialog = ChoiceDialog | QuestionDialog
"""One request: `opening` says what is asked, `menu` what can be answered.

`answer` returns the reply if the line completes it. If it does not, `menu` is printed again. With
`wants_sentence`, the next line is a sentence rather than a choice.
"""


def make_dialog(request: Request) -> LineDialog:
    match request:
        case ApprovalRequest():
            return ChoiceDialog(request.id, request_lines(request), approval_choices(request))
        case PlanRequest(plan=plan):
            lines = (f"    {line}" for line in safe_text(plan).strip("\n").split("\n"))
            return ChoiceDialog(request.id, (request.title, *lines), PLAN_CHOICES)
        case QuestionRequest():
            return QuestionDialog(request)
        case _:
            assert_never(request)
