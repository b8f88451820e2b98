"""What tools need from the layer above them, as Protocols.

Stands in for what only a session has: tools are listed and judged without one, too.
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
    """Puts something before the person and waits for what they say, also that nobody is there."""

    @overload
    async def ask(self, request: QuestionRequest) -> QuestionReply: ...
    @overload
    async def ask(self, request: PlanRequest) -> PlanReply: ...


class PlanKeeper(Protocol):
    """Takes a plan that the person approved."""

    async def approve(self, plan: str) -> str:
        """Leave plan mode with the plan in mind; returns the name of the agent that goes on."""


class NobodyThere:
    """Both of them, where there is no session."""

    @overload
    async def ask(self, request: QuestionRequest) -> QuestionReply: ...
    @overload
    async def ask(self, request: PlanRequest) -> PlanReply: ...
    async def ask(self, request: QuestionRequest | PlanRequest) -> Reply:
        return unattended(request)

    async def approve(self, plan: str) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class PersonPorts:
    """The ways to the person."""

    asker: Asker
    plans: PlanKeeper


NOBODY_THERE = PersonPorts(NobodyThere(), NobodyThere())


@dataclass(frozen=True, slots=True)
class SubTask:
    """Work for one sub-agent; an empty `model` is its profile's, or the parent's."""

    agent: str
    objective: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class SubResult:
    """All that a sub-agent's parent learns of its work; `line` is for the person."""

    agent: str
    ok: bool
    summary: str
    line: ChildLine

    def as_json(self) -> JsonObject:
        return {"agent": self.agent, "ok": self.ok, "summary": self.summary}


class SubagentRunner(Protocol):
    """Runs sub-agents for a call and ends with it: none of them goes on when the call is cancelled."""

    @property
    def agents(self) -> Mapping[str, str]:
        """What can be asked for: names with what each is good for."""

    def is_elsewhere(self, model: str) -> bool:
        """Whether a model is another provider's than the session's: then the project would go there, too."""

    async def run(self, call_id: str, tasks: tuple[SubTask, ...]) -> tuple[SubResult, ...]:
        """All to their end, results in the order of the tasks; a task that fails does so alone."""


class Finisher(Protocol):
    """Takes a sub-agent's last word."""

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
    """Runs calls within a call, each decided by itself; what only looks runs side by side."""

    def canonical(self, call: InnerCall) -> str:
        """The name of the tool that a call means, also where there is none."""

    async def run(self, calls: tuple[InnerCall, ...], ctx: ToolContext) -> tuple[InnerResult, ...]: ...


@dataclass(frozen=True, slots=True)
class NoSubagents:
    """Knows the agents, and has no model to run them with."""

    agents: Mapping[str, str]

    def is_elsewhere(self, model: str) -> bool:
        """Without a session every model is."""
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
    raise ToolError(ErrorType.EXECUTION_FAILED, f"{what}: there is no session here to run them in")
