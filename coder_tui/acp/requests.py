"""What the core asks a person, put to an editor as permission requests; and its answers, as ours.

Puts the requests of a session to the editor, and gives its answers back.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from acp import Client, RequestError
from acp.helpers import ToolCallContentVariant
from acp.schema import AllowedOutcome, PermissionOption, ToolCallUpdate, ToolKind
from pydantic import ValidationError

from coder_tui.acp.calls import Calls, kind_of, title_of
from coder_tui.acp.content import content_of, said
from coder_tui.acp.wire import Outbox
from coder_tui.agent.session import Session
from coder_tui.config.inventory import ProjectInventory
from coder_tui.protocol.requests import (
    ApprovalReply,
    ApprovalRequest,
    Attendance,
    Decision,
    GrantScope,
    PlanDecision,
    PlanReply,
    PlanRequest,
    Question,
    QuestionAnswer,
    QuestionReply,
    QuestionRequest,
    Reply,
    Request,
    unattended,
)
from coder_tui.text.safe_text import safe_line

ALLOW, REJECT, REJECT_ALWAYS = "allow", "reject", "reject-always"
ALWAYS = "always-"
NOT_AGAIN = "the person refused this once, and for the rest of the session"
MOST_OPTIONS = 9


@dataclass(frozen=True, slots=True)
class Asked:
    """One permission request."""

    call: ToolCallUpdate
    options: list[PermissionOption]


@dataclass(frozen=True, slots=True)
class Chosen:
    option: str


class Cancelled:
    """The person stopped the turn in place of an answer."""


class NoAnswer:
    """The editor cannot be asked."""


Answer = Chosen | Cancelled | NoAnswer
Ask = Callable[[Asked], Awaitable[Answer]]


class Refusals:
    """What the person refused for good, in this session."""

    def __init__(self) -> None:
        self._refused: set[tuple[str, str, str]] = set()

    def add(self, request: ApprovalRequest) -> None:
        self._refused.add(_identity(request))

    def cover(self, request: ApprovalRequest) -> bool:
        return _identity(request) in self._refused


def _identity(request: ApprovalRequest) -> tuple[str, str, str]:
    """The same call shows the same preview; another one is another question."""
    return request.tool, request.summary, repr(request.preview)


async def reply_to(request: Request, ask: Ask, directory: Path, refusals: Refusals) -> Reply:
    """Put the question and wait for the answer."""
    match request:
        case ApprovalRequest():
            return await _approval(request, ask, directory, refusals)
        case PlanRequest():
            return await _plan(request, ask)
        case QuestionRequest():
            return await _questions(request, ask)
        case _:
            assert_never(request)


async def _approval(request: ApprovalRequest, ask: Ask, directory: Path, refusals: Refusals) -> ApprovalReply:
    if refusals.cover(request):
        return ApprovalReply(Decision.DENY, NOT_AGAIN)
    grants = {
        f"{ALWAYS}{place}": grant
        for place, grant in enumerate(request.grants)
        if grant.scope is GrantScope.SESSION
    }
    options = [
        _option(ALLOW, "Allow once", "allow_once"),
        *(_option(option, f"Always: {grant.label}", "allow_always") for option, grant in grants.items()),
        _option(REJECT, "Refuse", "reject_once"),
        _option(REJECT_ALWAYS, "Refuse, and do not ask again in this session", "reject_always"),
    ]
    content = [*_facts(request), *content_of(request.preview, directory, is_done=False)]
    asked = Asked(
        _call(request.call_id, title_of(request.tool, request.summary), kind_of(request.kind), content),
        options,
    )
    match await ask(asked):
        case Chosen(option) if option == ALLOW:
            return ApprovalReply(Decision.ALLOW_ONCE)
        case Chosen(option) if option in grants:
            return ApprovalReply(Decision.ALLOW_ALWAYS, grant=grants[option])
        case Chosen(option):
            if option == REJECT_ALWAYS:
                refusals.add(request)
            return ApprovalReply(Decision.DENY)
        case Cancelled():
            return ApprovalReply(Decision.CANCEL_TURN)
        case NoAnswer():
            return ApprovalReply(Decision.NOBODY_THERE)


def _facts(request: ApprovalRequest) -> list[ToolCallContentVariant]:
    """Why it is asked, who asks, and what the command was found to do."""
    who = (f"The agent {request.agent} asks.",) if request.agent else ()
    sandbox = (f"Sandbox: {request.sandbox}.",) if request.sandbox else ()
    lines = [safe_line(line) for line in (*who, *request.facts, *sandbox)]
    return [said("\n".join(f"- {line}" for line in lines))] if lines else []


async def _plan(request: PlanRequest, ask: Ask) -> PlanReply:
    options = [
        _option(ALLOW, "Carry it out", "allow_once"),
        _option(REJECT, "Go on planning", "reject_once"),
    ]
    call = _call(request.call_id, request.title, "switch_mode", [said(request.plan)])
    match await ask(Asked(call, options)):
        case Chosen(option):
            return PlanReply(PlanDecision.APPROVE if option == ALLOW else PlanDecision.REFUSE)
        case Cancelled():
            return PlanReply(PlanDecision.CANCEL)
        case NoAnswer():
            return PlanReply(PlanDecision.NOBODY_THERE)


async def _questions(request: QuestionRequest, ask: Ask) -> Reply:
    """One after the other. Words of one's own cannot be asked for: such a question stays open."""
    if not any(question.options for question in request.questions):
        return unattended(request)
    answers: list[QuestionAnswer] = []
    for question in request.questions:
        match await ask(_asked(request.call_id, question)) if question.options else Chosen(REJECT):
            case Chosen(option):
                answers.append(_answer(question, option))
            case Cancelled():
                return QuestionReply(Attendance.CANCELLED)
            case NoAnswer():
                return unattended(request)
    return QuestionReply(Attendance.ANSWERED, tuple(answers))


def _asked(call_id: str, question: Question) -> Asked:
    offered = question.options[:MOST_OPTIONS]
    details = [
        f"- {safe_line(each.label)}: {safe_line(each.description)}" for each in offered if each.description
    ]
    options = [
        _option(f"{place}", f"{each.label}{question.mark_of(place)}", "allow_once")
        for place, each in enumerate(offered)
    ]
    call = _call(call_id, question.question, "think", [said("\n".join(details))] if details else [])
    return Asked(call, [*options, _option(REJECT, "Leave it open", "reject_once")])


def _answer(question: Question, option: str) -> QuestionAnswer:
    if not option.isdecimal() or int(option) >= len(question.options):
        return QuestionAnswer()
    return QuestionAnswer((question.options[int(option)].label,))


def trust_question(inventory: ProjectInventory) -> Asked:
    """Whether what the project brings along may be used: asked once, before its first prompt."""
    lines = [safe_line(f"- {item.kind}, {item.place}: {item.sentence}") for item in inventory.questions]
    call = _call(
        "trust",
        "Trust this project? It brings settings of its own.",
        "other",
        [said("\n".join(("Trusting it switches on:", "", *lines)))],
    )
    options = [
        _option(ALLOW, "Trust it in this content", "allow_always"),
        _option(REJECT, "Not now", "reject_once"),
        _option(REJECT_ALWAYS, "No, and do not ask again for this content", "reject_always"),
    ]
    return Asked(call, options)


def _call(call_id: str, title: str, kind: ToolKind, content: list[ToolCallContentVariant]) -> ToolCallUpdate:
    return ToolCallUpdate(
        tool_call_id=call_id, title=safe_line(title), kind=kind, status="pending", content=content or None
    )


def _option(id: str, name: str, kind: str) -> PermissionOption:
    return PermissionOption.model_validate({"optionId": id, "name": safe_line(name), "kind": kind})


log = logging.getLogger(__name__)
_ALLOWING = frozenset({Decision.ALLOW_ONCE, Decision.ALLOW_ALWAYS})


class Asking:
    def __init__(
        self, session: Session, client: Client, outbox: Outbox, calls: Calls, refusals: Refusals
    ) -> None:
        self._session = session
        self._client = client
        self._outbox = outbox
        self._calls = calls
        self._refusals = refusals
        self._open: dict[str, asyncio.Task[None]] = {}

    def opened(self, request: Request) -> None:
        self._open[request.id] = asyncio.create_task(self._answer(request))

    def closed(self, request_id: str) -> None:
        """Answered, or withdrawn: then nobody waits for the editor any more."""
        task = self._open.pop(request_id, None)
        if task is not None:
            task.cancel()

    def close(self) -> None:
        for request_id in tuple(self._open):
            self.closed(request_id)

    async def ask(self, asked: Asked) -> Answer:
        """What is no call of the model's own, a sub-agent's for instance, is shown as one while it lasts."""
        with self._calls.shown(asked.call) as settle:
            answer = await self._put(asked)
            if isinstance(answer, Chosen):
                kinds = {option.option_id: option.kind for option in asked.options}
                settle(is_allowed=kinds.get(answer.option, "").startswith("allow"))
            return answer

    async def _put(self, asked: Asked) -> Answer:
        try:
            await self._outbox.flushed()
            response = await self._client.request_permission(
                session_id=self._session.id, tool_call=asked.call, options=asked.options
            )
        except (RequestError, ConnectionError, ValidationError) as error:
            log.warning("the editor could not be asked: %s", error)
            return NoAnswer()
        if isinstance(response.outcome, AllowedOutcome):
            return Chosen(response.outcome.option_id)
        return Cancelled()

    async def _answer(self, request: Request) -> None:
        reply = await reply_to(request, self.ask, self._session.directory, self._refusals)
        self._open.pop(request.id, None)
        if isinstance(reply, ApprovalReply) and reply.decision in _ALLOWING:
            self._calls.allowed(request.call_id)
        self._session.answer(request.id, reply)
