"""`task`: one sub-agent with its own context, of which only the summary comes back."""

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.child_progress import first_line
from coder_tui.protocol.display import SubagentsBlock
from coder_tui.tools.base import Access, Audience, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.subagent_fields import Objective, declared, described
from coder_tui.tools.ports import SubagentRunner, SubTask


class TaskParams(Params):
    agent: str
    objective: Objective


class TaskTool(Tool[TaskParams]):
    name = "task"
    kind = ToolKind.OTHER
    display_name = "Task"
    params = TaskParams
    permission = "task"
    audience = Audience.MAIN

    def __init__(self, subagents: SubagentRunner) -> None:
        self._subagents = subagents

    def variables(self) -> dict[str, object]:
        return {"agents": described(self._subagents.agents)}

    def summary(self, params: TaskParams) -> str:
        return f"{params.agent}: {first_line(params.objective)}"

    async def access(self, params: TaskParams, ctx: ToolContext) -> Access:
        return declared([params.agent], self._subagents.agents)

    async def run(self, params: TaskParams, ctx: ToolContext) -> ToolResult:
        (result,) = await self._subagents.run(ctx.call_id, (SubTask(params.agent, params.objective),))
        told = {"ok": result.ok, "agent": result.agent, "summary": result.summary}
        return ToolResult(told, SubagentsBlock((result.line,)))
