"""What `bash_output` and `bash_kill` share: a job by its id, and what is new of it."""

from coder_tui.protocol.display import TerminalBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.shell.background import Job, JobTable, News
from coder_tui.text.terminal_text import plain_output
from coder_tui.tools.base import JsonObject, Params, ToolResult
from coder_tui.tools.builtin.bash_result import saved_output


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
