"""`task_finish`: a sub-agent's last word, which its parent gets."""

from pydantic import Field

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.child_progress import first_line
from coder_tui.protocol.display import MarkdownBlock
from coder_tui.tools.base import Access, Audience, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.ports import Finisher


class TaskFinishParams(Params):
    summary: str = Field(min_length=1)
    ok: bool = True


class TaskFinishTool(Tool[TaskFinishParams]):
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

    async def access(self, params: TaskFinishParams, ctx: ToolContext) -> Access | None:
        return None

    async def run(self, params: TaskFinishParams, ctx: ToolContext) -> ToolResult:
        self._finisher.finish(params.summary, ok=params.ok)
        return ToolResult({"ok": True}, MarkdownBlock(params.summary))
