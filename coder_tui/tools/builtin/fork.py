"""`fork`: several sub-agents at once, with the same or other models."""

from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field

from coder_tui.policy.targets import OTHER_PROVIDER
from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.display import SubagentsBlock
from coder_tui.tools.base import Access, Audience, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.subagent_fields import Objective, declared
from coder_tui.tools.ports import SubagentRunner, SubTask

DEFAULT_AGENT = "general"
TOGETHER = 4
"""How many work at the same time; the others wait for their turn."""
MOST_TASKS = 16


class ForkedTask(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    agent: str = DEFAULT_AGENT
    objective: Objective
    model: str = Field("", max_length=200)


class ForkParams(Params):
    tasks: list[ForkedTask] = Field(min_length=1, max_length=MOST_TASKS)


class ForkTool(Tool[ForkParams]):
    name = "fork"
    kind = ToolKind.OTHER
    display_name = "Fork"
    params = ForkParams
    permission = "task"
    audience = Audience.MAIN

    def __init__(self, subagents: SubagentRunner) -> None:
        self._subagents = subagents

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
        told = {
            "ok": all(result.ok for result in results),
            "results": [result.as_json() for result in results],
        }
        return ToolResult(told, SubagentsBlock(tuple(result.line for result in results)))
