"""Sends the requests of a session to the editor as permission requests, and converts the answers."""

import asyncio
import logging
from dataclasses import dataclass
from typing import assert_never

from acp import Client, RequestError
from acp.helpers import ToolCallContentVariant
from acp.schema import AllowedOutcome, PermissionOption, ToolCallUpdate, ToolKind
from pydantic import ValidationError

from coder_tui.acp.content import content_of, markdown
from coder_tui.acp.updates import CallUpdates, Outbox, kind_of, title_of
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
NOT_AGAIN = "the user has refused this for the rest of the session"
MOST_OPTIONS = 9


@dataclass(frozen=True, slots=True)
class PermissionPrompt:
    """One permission request."""

    call: ToolCallUpdate
    options: list[PermissionOption]


@dataclass(frozen=True, slots=True)
class Chosen:
    option: str


class Cancelled:
    """The user stopped the turn instead of answering."""


class NoAnswer:
    """The editor cannot be asked."""


Answer = Chosen | Cancelled | NoAnswer


Refusals = set[tuple[str, str, str]]
"""What the user refused for the rest of the session."""


def _identity(request: ApprovalRequest) -> tuple[str, str, str]:
    """Identify a call by its preview, too: a different preview is a different question."""
    return request.tool, request.summary, repr(request.preview)


def _facts(request: ApprovalRequest) -> list[ToolCallContentVariant]:
    """Say which agent asks, why the user is asked, and how the command is confined."""
    who = (f"Asked by the agent {request.agent}.",) if request.agent else ()
    sandbox = (f"Sandbox: {request.sandbox}.",) if request.sandbox else ()
    lines = [safe_line(line) for line in (*who, *request.facts, *sandbox)]
    return [markdown("\n".join(f"- {line}" for line in lines))] if lines else []


def _asked(call_id: str, question: Question) -> PermissionPrompt:
    offered = question.options[:MOST_OPTIONS]
    details = [
        f"- {safe_line(each.label)}: {safe_line(each.description)}" for each in offered if each.description
    ]
    options = [
        _option(f"{place}", f"{each.label}{question.mark_of(place)}", "allow_once")
        for place, each in enumerate(offered)
    ]
    call = _call(call_id, question.question, "think", [markdown("\n".join(details))] if details else [])
    return PermissionPrompt(call, [*options, _option(REJECT, "Skip this question", "reject_once")])


def _answer(question: Question, option: str) -> QuestionAnswer:
    if not option.isdecimal() or int(option) >= len(question.options):
        return QuestionAnswer()
    return QuestionAnswer((question.options[int(option)].label,))


def trust_question(inventory: ProjectInventory) -> PermissionPrompt:
    """Ask whether to trust the project, once, before its first prompt."""
    lines = [safe_line(f"- {item.kind}, {item.place}: {item.sentence}") for item in inventory.questions]
    call = _call(
        "trust",
        "Trust this project? It has its own settings.",
        "other",
        [markdown("\n".join(("Trusting it turns on:", "", *lines)))],
    )
    options = [
        _option(ALLOW, "Trust it until its files change", "allow_always"),
        _option(REJECT, "Not now", "reject_once"),
        _option(REJECT_ALWAYS, "No, and do not ask again unless its files change", "reject_always"),
    ]
    return PermissionPrompt(call, options)


def _call(call_id: str, title: str, kind: ToolKind, content: list[ToolCallContentVariant]) -> ToolCallUpdate:
    return ToolCallUpdate(
        tool_call_id=call_id, title=safe_line(title), kind=kind, status="pending", content=content or None
    )


def _option(id: str, name: str, kind: str) -> PermissionOption:
    return PermissionOption.model_validate({"optionId": id, "name": safe_line(name), "kind": kind})


log = logging.getLogger(__name__)
_ALLOWING = frozenset({Decision.ALLOW_ONCE, Decision.ALLOW_ALWAYS})


class EditorRequests:
    """Asks the editor about each open request, and gives its answer to the session."""

    def __init__(
        self, session: Session, client: Client, outbox: Outbox, calls: CallUpdates, refusals: Refusals
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
        """Stop waiting for the editor: the request was answered or withdrawn."""
        task = self._open.pop(request_id, None)
        if task is not None:
            task.cancel()

    def close(self) -> None:
        for request_id in tuple(self._open):
            self.closed(request_id)

    async def ask(self, asked: PermissionPrompt) -> Answer:
        """Ask the editor. A call that it does not know yet, such as a sub-agent's, is announced first."""
        kinds = {option.option_id: option.kind for option in asked.options}
        is_allowed, is_new = False, self._calls.announce(asked.call)
        try:
            answer = await self._put(asked)
            is_allowed = isinstance(answer, Chosen) and kinds.get(answer.option, "").startswith("allow")
            return answer
        finally:
            if is_new:
                self._calls.settle(asked.call, is_allowed=is_allowed)

    async def _put(self, asked: PermissionPrompt) -> Answer:
        try:
            await self._outbox.flush()
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
        reply = await self._reply(request)
        self._open.pop(request.id, None)
        if isinstance(reply, ApprovalReply) and reply.decision in _ALLOWING:
            self._calls.allowed(request.call_id)
        self._session.answer(request.id, reply)

    async def _reply(self, request: Request) -> Reply:
        match request:
            case ApprovalRequest():
                return await self._approval(request)
            case PlanRequest():
                return await self._plan(request)
            case QuestionRequest():
                return await self._questions(request)
            case _:
                assert_never(request)

    async def _approval(self, request: ApprovalRequest) -> ApprovalReply:
        if _identity(request) in self._refusals:
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
        content = [*_facts(request), *content_of(request.preview, self._session.directory, is_done=False)]
        asked = PermissionPrompt(
            _call(request.call_id, title_of(request.tool, request.summary), kind_of(request.kind), content),
            options,
        )
        match await self.ask(asked):
            case Chosen(option) if option == ALLOW:
                return ApprovalReply(Decision.ALLOW_ONCE)
            case Chosen(option) if option in grants:
                return ApprovalReply(Decision.ALLOW_ALWAYS, grant=grants[option])
            case Chosen(option):
                if option == REJECT_ALWAYS:
                    self._refusals.add(_identity(request))
                return ApprovalReply(Decision.DENY)
            case Cancelled():
                return ApprovalReply(Decision.CANCEL_TURN)
            case NoAnswer():
                return ApprovalReply(Decision.NOBODY_THERE)

    async def _plan(self, request: PlanRequest) -> PlanReply:
        options = [
            _option(ALLOW, "Carry it out", "allow_once"),
            _option(REJECT, "Keep planning", "reject_once"),
        ]
        call = _call(request.call_id, request.title, "switch_mode", [markdown(request.plan)])
        match await self.ask(PermissionPrompt(call, options)):
            case Chosen(option):
                return PlanReply(PlanDecision.APPROVE if option == ALLOW else PlanDecision.REFUSE)
            case Cancelled():
                return PlanReply(PlanDecision.CANCEL)
            case NoAnswer():
                return PlanReply(PlanDecision.NOBODY_THERE)

    async def _questions(self, request: QuestionRequest) -> Reply:
        """Ask one question after the other. Editors cannot ask for free text: that stays unanswered."""
        if not any(question.options for question in request.questions):
            return unattended(request)
        answers: list[QuestionAnswer] = []
        for question in request.questions:
            match await self.ask(_asked(request.call_id, question)) if question.options else Chosen(REJECT):
                case Chosen(option):
                    answers.append(_answer(question, option))
                case Cancelled():
                    return QuestionReply(Attendance.CANCELLED)
                case NoAnswer():
                    return unattended(request)
        return QuestionReply(Attendance.ANSWERED, tuple(answers))
