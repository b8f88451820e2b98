"""The `bash_output` tool: what a background job printed since the last look."""

from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.shell.session_shell import SessionShell
from coder_tui.tools.base import Access, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.bash_jobs import JobParams, job_of, news_result


class BashOutputTool(Tool[JobParams]):
    name = "bash_output"
    kind = ToolKind.READ
    display_name = "Job output"
    params = JobParams
    permission = "bash_output"

    def __init__(self, shell: SessionShell) -> None:
        self._shell = shell

    def summary(self, params: JobParams) -> str:
        return params.job_id

    async def access(self, params: JobParams, ctx: ToolContext) -> Access:
        return Access((Target(TargetKind.NAME, params.job_id),))

    async def run(self, params: JobParams, ctx: ToolContext) -> ToolResult:
        job = job_of(self._shell.jobs, params.job_id)
        return news_result(job.news(), str(self._shell.root))
