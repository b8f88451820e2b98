"""A user who gives the answers that a test prepared, and an agent that carries out their plans."""

from dataclasses import dataclass, field
from typing import overload

from coder_tui.protocol.requests import PlanReply, PlanRequest, QuestionReply, QuestionRequest


@dataclass
class FakeUser:
    """`asked` are the requests, each answered by the next of `replies`."""

    replies: list[QuestionReply | PlanReply]
    asked: list[QuestionRequest | PlanRequest] = field(default_factory=list)

    @overload
    async def ask(self, request: QuestionRequest) -> QuestionReply: ...
    @overload
    async def ask(self, request: PlanRequest) -> PlanReply: ...
    async def ask(self, request: QuestionRequest | PlanRequest) -> QuestionReply | PlanReply:
        self.asked.append(request)
        return self.replies.pop(0)


@dataclass
class Plans:
    """Notes approved plans."""

    approved: list[str] = field(default_factory=list)

    async def approve(self, plan: str) -> str:
        self.approved.append(plan)
        return "build"
