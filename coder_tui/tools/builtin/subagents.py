"""The `task`, `fork` and `task_finish` tools: run sub-agents, of which only the summary comes back."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import Field
from rapidfuzz import process

from coder_tui.policy.targets import OTHER_PROVIDER
from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.child_progress import first_line
from coder_tui.protocol.display import MarkdownBlock, SubagentsBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access, Audience, Params, ParamsT, PureTool, Tool, ToolContext, ToolResult
from coder_tui.tools.ports import Finisher, SubagentRunner, SubTask


class TaskFinishParams(Params):
    summary: str = Field(min_length=1)
    ok: bool = True


class TaskFinishTool(PureTool[TaskFinishParams]):
    name = "task_finish"
    kind = ToolKind.THINK
    display_name = "Finish"
    params = TaskFinishParams
    permission = "task"
    audience = Audience.SUB

    def __init__(self, finisher: Finisher) -> None:
        self._finisher = finisher

    def summary(self, params: TaskFinishParams) -> str:
        return first_line(params.summary)

    async def run(self, params: TaskFinishParams, ctx: ToolContext) -> ToolResult:
        self._finisher.finish(params.summary, ok=params.ok)
        return ToolResult({"ok": True}, MarkdownBlock(params.summary))


LONGEST_OBJECTIVE = 40_000
"""Characters. The sub-agent reads files itself; they are not passed to it."""

Objective = Annotated[str, Field(min_length=1, max_length=LONGEST_OBJECTIVE)]


def declared(agents: Iterable[str], known: Mapping[str, str]) -> Access:
    """Declare the agents that a call would start, so that rules can name them; raise for an unknown one."""
    names = tuple(dict.fromkeys(agents))
    for name in names:
        if name not in known:
            raise _unknown(name, known)
    return Access(tuple(Target(TargetKind.NAME, name) for name in names))


def _unknown(name: str, known: Mapping[str, str]) -> ToolError:
    shown = name[:100]
    near = [match for match, _, _ in process.extract(shown, list(known), limit=2, score_cutoff=50)]
    hint = f"The nearest are: {', '.join(near)}. " if near else ""
    return ToolError(
        ErrorType.INVALID_TOOL_PARAMS,
        f"invalid args: agent: no sub-agent {shown!r}",
        f"{hint}Known agents: {', '.join(known)}.",
    )


def described(known: Mapping[str, str]) -> str:
    return "\n".join(f"- {name}: {description}" for name, description in known.items())


class SubagentTool(Tool[ParamsT]):
    """Starts sub-agents."""

    kind = ToolKind.OTHER
    permission = "task"
    audience = Audience.MAIN

    def __init__(self, subagents: SubagentRunner) -> None:
        self._subagents = subagents


class TaskParams(Params):
    agent: str
    objective: Objective


class TaskTool(SubagentTool[TaskParams]):
    name = "task"
    display_name = "Task"
    params = TaskParams

    def variables(self) -> dict[str, object]:
        return {"agents": described(self._subagents.agents)}

    def summary(self, params: TaskParams) -> str:
        return f"{params.agent}: {first_line(params.objective)}"

    async def access(self, params: TaskParams, ctx: ToolContext) -> Access:
        return declared([params.agent], self._subagents.agents)

    async def run(self, params: TaskParams, ctx: ToolContext) -> ToolResult:
        (result,) = await self._subagents.run(ctx.call_id, (SubTask(params.agent, params.objective),))
        fields = {"ok": result.ok, "agent": result.agent, "summary": result.summary}
        return ToolResult(fields, SubagentsBlock((result.line,)))


DEFAULT_AGENT = "general"
TOGETHER = 4
"""How many run at the same time; the others wait."""
MOST_TASKS = 16


class ForkedTask(Params):
    agent: str = DEFAULT_AGENT
    objective: Objective
    model: str = Field("", max_length=200)


class ForkParams(Params):
    tasks: list[ForkedTask] = Field(min_length=1, max_length=MOST_TASKS)


class ForkTool(SubagentTool[ForkParams]):
    name = "fork"
    display_name = "Fork"
    params = ForkParams

    def variables(self) -> dict[str, object]:
        return {"together": TOGETHER, "default": DEFAULT_AGENT}

    def summary(self, params: ForkParams) -> str:
        agents = dict.fromkeys(task.agent for task in params.tasks)
        count = len(params.tasks)
        return f"{count} {'task' if count == 1 else 'tasks'}: {', '.join(agents)}"

    async def access(self, params: ForkParams, ctx: ToolContext) -> Access:
        access = declared((task.agent for task in params.tasks), self._subagents.agents)
        models = dict.fromkeys(
            task.model for task in params.tasks if self._subagents.is_elsewhere(task.model)
        )
        elsewhere = tuple(Target(TargetKind.NAME, f"{OTHER_PROVIDER}{model}") for model in models)
        return replace(access, targets=(*access.targets, *elsewhere))

    async def run(self, params: ForkParams, ctx: ToolContext) -> ToolResult:
        tasks = tuple(SubTask(task.agent, task.objective, task.model) for task in params.tasks)
        results = await self._subagents.run(ctx.call_id, tasks)
        fields = {
            "ok": all(result.ok for result in results),
            "results": [result.as_json() for result in results],
        }
        return ToolResult(fields, SubagentsBlock(tuple(result.line for result in results)))
