"""What tools need from the layers above, as Protocols.

Stand-ins allow tools to be listed and judged without a session.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol, overload

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.protocol.outcomes import Outcome
from coder_tui.protocol.requests import (
    PlanReply,
    PlanRequest,
    QuestionReply,
    QuestionRequest,
    Reply,
    unattended,
)
from coder_tui.protocol.subagents import ChildLine
from coder_tui.tools.base import JsonObject, ToolContext


class Asker(Protocol):
    """Asks the user and waits for the reply, which may be that nobody is there."""

    @overload
    async def ask(self, request: QuestionRequest) -> QuestionReply: ...
    @overload
    async def ask(self, request: PlanRequest) -> PlanReply: ...


class PlanKeeper(Protocol):
    """Receives a plan that the user approved."""

    async def approve(self, plan: str) -> str:
        """Leave plan mode with this plan; return the name of the agent that continues."""


class NobodyThere:
    """Answers for both if there is no session."""

    @overload
    async def ask(self, request: QuestionRequest) -> QuestionReply: ...
    @overload
    async def ask(self, request: PlanRequest) -> PlanReply: ...
    async def ask(self, request: QuestionRequest | PlanRequest) -> Reply:
        return unattended(request)

    async def approve(self, plan: str) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class UserPorts:
    """The ways to reach the user."""

    asker: Asker
    plans: PlanKeeper


NOBODY_THERE = UserPorts(NobodyThere(), NobodyThere())


@dataclass(frozen=True, slots=True)
class SubTask:
    """Work for one sub-agent; an empty `model` means its profile's or the parent's."""

    agent: str
    objective: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class SubResult:
    """Everything that the parent learns from a sub-agent; `line` is for the user."""

    agent: str
    ok: bool
    summary: str
    line: ChildLine

    def as_json(self) -> JsonObject:
        return {"agent": self.agent, "ok": self.ok, "summary": self.summary}


class SubagentRunner(Protocol):
    """Runs sub-agents for a call; if the call is cancelled, they all end."""

    @property
    def agents(self) -> Mapping[str, str]:
        """Return the available agents with what each is good for."""

    def is_elsewhere(self, model: str) -> bool:
        """Return whether a model is another provider's than the session's.

        Then the project would go there, too.
        """

    async def run(self, call_id: str, tasks: tuple[SubTask, ...]) -> tuple[SubResult, ...]:
        """Run all tasks; results are in the order of the tasks, and a failure affects only its task."""


class Finisher(Protocol):
    """Receives a sub-agent's summary."""

    def finish(self, summary: str, *, ok: bool) -> None: ...


@dataclass(frozen=True, slots=True)
class InnerCall:
    """A call within a call, as the model wrote it."""

    tool: str
    args: dict[str, Any]


@dataclass(frozen=True, slots=True)
class InnerResult:
    tool: str
    outcome: Outcome
    summary: str
    result: JsonObject


class InnerRunner(Protocol):
    """Runs calls within a call, each decided separately; calls that only read run at the same time."""

    def canonical(self, call: InnerCall) -> str:
        """Return the name of the tool that a call means, even if it does not exist."""

    async def run(self, calls: tuple[InnerCall, ...], ctx: ToolContext) -> tuple[InnerResult, ...]: ...


@dataclass(frozen=True, slots=True)
class NoSubagents:
    """Knows the agents but has no model to run them."""

    agents: Mapping[str, str]

    def is_elsewhere(self, model: str) -> bool:
        """Without a session, every model belongs to another provider."""
        return bool(model)

    async def run(self, call_id: str, tasks: tuple[SubTask, ...]) -> tuple[SubResult, ...]:
        _refuse("sub-agents")


class NoFinisher:
    def finish(self, summary: str, *, ok: bool) -> None:
        _refuse("task_finish")


class NoInnerCalls:
    def canonical(self, call: InnerCall) -> str:
        return call.tool

    async def run(self, calls: tuple[InnerCall, ...], ctx: ToolContext) -> tuple[InnerResult, ...]:
        _refuse("batch")


def _refuse(what: str) -> NoReturn:
    raise ToolError(ErrorType.EXECUTION_FAILED, f"{what}: not available without a session")
