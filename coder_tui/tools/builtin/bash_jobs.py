"""What `bash_output` and `bash_kill` share: a job by its id, and what is new of it.

The `bash_kill` tool: ends a background job with everything that it started.

The `bash_output` tool: what a background job printed since the last look.
"""

from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.display import TerminalBlock, TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.shell.jobs import Job, JobTable, News
from coder_tui.shell.session_shell import SessionShell
from coder_tui.text.terminal import plain_output
from coder_tui.tools.base import Access, JsonObject, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.bash import saved_output


class JobParams(Params):
    job_id: str


def job_of(jobs: JobTable, job_id: str) -> Job:
    job = jobs.get(job_id)
    if job is None:
        known = ", ".join(jobs.ids())
        hint = f"Known jobs: {known}." if known else "No job was started in this session."
        raise ToolError(
            ErrorType.INVALID_TOOL_PARAMS, f"invalid args: job_id: there is no job {job_id[:100]!r}", hint
        )
    return job


def news_result(news: News, directory: str) -> ToolResult:
    fields: JsonObject = {"ok": True, "running": news.is_running}
    if news.exit_code is not None:
        fields["exit_code"] = news.exit_code
    fields |= {"stdout": plain_output(news.stdout), "stderr": plain_output(news.stderr)}
    if news.truncated:
        fields["truncated"] = True
    if news.saved is not None:
        fields |= saved_output(str(news.saved))
    output = "\n".join(text for text in (fields["stdout"], fields["stderr"]) if text)
    return ToolResult(fields, TerminalBlock(news.command, output, news.exit_code, directory))


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
