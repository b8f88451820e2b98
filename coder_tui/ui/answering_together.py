"""Which waiting requests one answer may settle, and by what reply."""

from coder_tui.protocol.requests import (
    ApprovalReply,
    ApprovalRequest,
    Attendance,
    Decision,
    PlanDecision,
    PlanReply,
    PlanRequest,
    QuestionReply,
    Reply,
    Request,
)
from coder_tui.ui.widgets.request_words import is_deceptive

MOST_TOGETHER = 50
"""Irreversible calls that are allowed by one key: all of them have to be read before."""


def objection(requests: tuple[Request, ...]) -> str:
    """Why these cannot be allowed together, as a sentence; empty where they can."""
    approvals = [request for request in requests if isinstance(request, ApprovalRequest)]
    if len(approvals) < len(requests):
        return "Questions and plans are answered one by one: Enter opens the marked one."
    if any(is_deceptive(request) for request in approvals):
        return "One of them is not what it looks like: answer it by itself."
    if all(request.is_undoable for request in approvals):
        return ""
    if len({(request.tool, request.rule) for request in approvals}) > 1:
        return "Not all of it can be undone, and they ask by different rules: allow them one by one."
    if len(approvals) > MOST_TOGETHER:
        return f"Not all of it can be undone: at most {MOST_TOGETHER} at once."
    return ""


def allowing(requests: tuple[Request, ...]) -> tuple[tuple[str, Reply], ...]:
    return tuple((request.id, ApprovalReply(Decision.ALLOW_ONCE)) for request in requests)


def refusing(requests: tuple[Request, ...]) -> tuple[tuple[str, Reply], ...]:
    return tuple((request.id, _refusal(request)) for request in requests)


def _refusal(request: Request) -> Reply:
    match request:
        case ApprovalRequest():
            return ApprovalReply(Decision.DENY)
        case PlanRequest():
            return PlanReply(PlanDecision.REFUSE)
        case _:
            return QuestionReply(Attendance.CANCELLED)
