"""The `bash_kill` tool: ends a background job with everything that it started."""

from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.shell.session_shell import SessionShell
from coder_tui.tools.base import Access, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.bash_jobs import JobParams, job_of, news_result


class BashKillTool(Tool[JobParams]):
    name = "bash_kill"
    kind = ToolKind.EXECUTE
    display_name = "End job"
    params = JobParams
    permission = "bash_kill"

    def __init__(self, shell: SessionShell) -> None:
        self._shell = shell

    def summary(self, params: JobParams) -> str:
        return params.job_id

    async def access(self, params: JobParams, ctx: ToolContext) -> Access:
        job = self._shell.jobs.get(params.job_id)
        preview = TextBlock(f"End {params.job_id}: {job.command}") if job else None
        return Access((Target(TargetKind.NAME, params.job_id, writes=True),), preview=preview)

    async def run(self, params: JobParams, ctx: ToolContext) -> ToolResult:
        job = job_of(self._shell.jobs, params.job_id)
        await job.kill()
        return news_result(job.news(), str(self._shell.root))
