"""The `bash` tool: run a command in the user's shell, confined.

The result has the exit code, the output, and a hint if one helps. `bash_output` and `bash_kill` read new
output of a background job, or end it.
"""

import asyncio
import errno
import re

from pydantic import field_validator

from coder_tui.policy.command import ShellCommand
from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.display import TerminalBlock, TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.shell.command import Completed
from coder_tui.shell.jobs import Job, JobOutput, JobTable, TooManyJobsError
from coder_tui.shell.sandbox.confinement import Confinement
from coder_tui.shell.sandbox.sandbox import SandboxKind
from coder_tui.shell.session_shell import SessionShell
from coder_tui.text.terminal import plain_output
from coder_tui.tools.base import Access, JsonObject, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.editing.change import check_text
from coder_tui.workspace.files.text import digest_of

_WANTED_INPUT = re.compile(
    r"EOFError|EOF when reading|not a (tty|terminal)|no tty|terminal is required|[Ii]nappropriate ioctl"
)
_WANTED_NETWORK = re.compile(
    r"[Cc]ould not resolve|[Tt]emporary failure in name resolution|[Nn]ame or service not known|EAI_AGAIN"
    r"|ENOTFOUND|ENETUNREACH|[Nn]etwork is unreachable|[Ff]ailed to establish a new connection"
    r"|[Ff]ailed to connect to|dns error|no such host|ECONNREFUSED|ConnectionRefused|nodename nor servname"
)
_WANTED_PLACE = re.compile(r"[Rr]ead-only file system|EROFS")
_WANTED_SERVICE = re.compile(
    r"docker daemon|/run/\S+\.sock|ssh-agent|gpg-agent|D-?Bus|AF_UNIX|[Uu]nix.?(domain )?socket"
    r"|multiprocessing/(connection|forkserver)"
)

NO_INPUT = "It asked for input, but there is none: pass answers as arguments or through a pipe."
NO_NETWORK = (
    "The sandbox gave it no network. A command that clearly uses it (curl, npm install) gets it with its "
    "approval; the setting bash.network names others."
)
NO_PLACE = "The sandbox lets it write to the workspace, /tmp and places that the command line names clearly."
NO_SERVICE = (
    "The sandbox has no Unix sockets, because local services listen there; socket pairs and TCP work."
)

NOT_REACHED = (
    "The sandbox gives it no network: no other command, fetch or browser can reach its ports. "
    "Start the server and try it in one command, or ask the user to name it in the setting bash.network."
)


def fields_of(command: str, completed: Completed, kind: SandboxKind, confinement: Confinement) -> JsonObject:
    fields: JsonObject = {
        "ok": completed.exit_code == 0,
        "command": command,
        "exit_code": completed.exit_code,
        "stdout": plain_output(completed.stdout),
        "stderr": plain_output(completed.stderr),
        "truncated": completed.truncated,
        "duration_ms": completed.duration_ms,
    }
    if completed.saved is not None:
        fields |= saved_output(str(completed.saved))
    if completed.exit_code:
        fields["error"] = _error(completed, kind, confinement)
    return fields


def saved_output(path: str) -> JsonObject:
    return {"output_file": path, "note": "output_file has all of it; use grep and read on it."}


def _error(completed: Completed, kind: SandboxKind, confinement: Confinement) -> JsonObject:
    if completed.timed_out:
        message = f"The command was stopped after {completed.duration_ms} ms."
        hint = "Set a larger timeout_ms, or background for what should keep running."
        return {"type": ErrorType.TIMEOUT.value, "message": message, "hint": hint}
    message = f"The command ended with exit code {completed.exit_code}."
    error = {"type": ErrorType.EXECUTION_FAILED.value, "message": message}
    if hint := _hint(completed, kind, confinement):
        error["hint"] = hint
    return error


def _hint(completed: Completed, kind: SandboxKind, confinement: Confinement) -> str:
    if _WANTED_INPUT.search(completed.stderr):
        return NO_INPUT
    if kind is SandboxKind.NONE:
        return ""
    if not confinement.network and _WANTED_NETWORK.search(completed.output):
        return NO_NETWORK
    if _WANTED_PLACE.search(completed.output):
        return NO_PLACE
    if not confinement.sockets and _WANTED_SERVICE.search(completed.stderr):
        return NO_SERVICE
    return ""


MOST_MILLISECONDS = 600_000
MOST_SAID = 120
_SETUP_FAILED = "bwrap: "
_RUNS_ON = "it keeps running in the background"
ALONE = "no other command or browser can reach its ports, because it has no network"


class BashParams(Params):
    command: str
    timeout_ms: int | None = None
    description: str | None = None
    background: bool = False

    @field_validator("command")
    @classmethod
    def _has_no_nul(cls, command: str) -> str:
        if "\0" in command or not command.strip():
            raise ValueError("must be a command without NUL characters")
        return command


class BashTool(Tool[BashParams]):
    name = "bash"
    kind = ToolKind.EXECUTE
    display_name = "Shell"
    params = BashParams
    permission = "bash"
    editable = "command"

    def __init__(self, shell: SessionShell) -> None:
        self._shell = shell

    def variables(self) -> dict[str, object]:
        return {
            "directory": self._shell.root,
            "shell": self._shell.options.shell,
            "timeout_ms": self._shell.options.timeout_ms,
            "max_timeout_ms": MOST_MILLISECONDS,
            "output_limit": self._shell.options.output_limit_bytes,
        }

    def summary(self, params: BashParams) -> str:
        first, _, rest = params.command.strip().partition("\n")
        return f"{first} …" if rest else first

    async def access(self, params: BashParams, ctx: ToolContext) -> Access:
        check_text("command", params.command)
        analysis, confinement = await asyncio.to_thread(self._analyze, params.command)
        target = Target(TargetKind.COMMAND, params.command, writes=True)
        return Access(
            (target, *analysis.targets),
            preview=TerminalBlock(params.command, "", None, str(self._shell.root)),
            fingerprint=digest_of(params.command.encode()),
            facts=(*self._background(params, confinement), *_model_description(params)),
            command=analysis,
            sandbox=self._shell.sandbox.status.describe(confinement),
        )

    async def run(self, params: BashParams, ctx: ToolContext) -> ToolResult:
        check_text("command", params.command)
        command = ctx.access.command if ctx.access else None
        if command is not None:
            await asyncio.to_thread(self._check_places, command)
        confinement = await asyncio.to_thread(self._shell.confinement, command)
        name = f"{ctx.session_id}-{ctx.call_id}"
        try:
            if params.background:
                return await self._start(params, confinement, name)
            completed = await self._shell.run(
                params.command,
                confinement,
                name=name,
                time_limit=self._milliseconds(params) / 1000,
                on_output=ctx.progress,
            )
        except OSError as error:
            raise self._not_started(error) from error
        return self._result(params, completed, confinement)

    def _analyze(self, command: str) -> tuple[ShellCommand, Confinement]:
        analysis = self._shell.analyze(command)
        return analysis, self._shell.confinement(analysis)

    def _background(self, params: BashParams, confinement: Confinement) -> tuple[str, ...]:
        if not params.background:
            return ()
        return (_RUNS_ON, ALONE) if self._is_alone(confinement) else (_RUNS_ON,)

    def _is_alone(self, confinement: Confinement) -> bool:
        return self._shell.sandbox.status.kind is not SandboxKind.NONE and not confinement.network

    def _check_places(self, approved: ShellCommand) -> None:
        """Refuse if a new link or file would take the command elsewhere than was shown."""
        now = {target for target in self._shell.analyze(approved.text).targets if target.writes}
        if not now <= set(approved.targets):
            message = "What this command would change is no longer what was approved."
            raise ToolError(ErrorType.STALE_FILE, message, "Make the call again.")

    async def _start(self, params: BashParams, confinement: Confinement, name: str) -> ToolResult:
        try:
            job = await self._shell.start(params.command, confinement, name=name)
        except TooManyJobsError as error:
            known = ", ".join(self._shell.jobs.ids())
            message = f"Too many jobs are running in the background ({known})."
            raise ToolError(ErrorType.EXECUTION_FAILED, message, "End some with bash_kill.") from error
        fields: JsonObject = {"ok": True, "command": params.command, "job_id": job.id}
        if self._is_alone(confinement):
            fields["note"] = NOT_REACHED
        return ToolResult(fields, TextBlock(f"{job.id} runs in the background: {params.command}"))

    def _result(self, params: BashParams, completed: Completed, confinement: Confinement) -> ToolResult:
        status = self._shell.sandbox.status
        if status.program and completed.exit_code == 1 and completed.output.startswith(_SETUP_FAILED):
            message = f"The sandbox could not be set up, nothing was run: {completed.output.strip()}"
            raise ToolError(ErrorType.EXECUTION_FAILED, message)
        fields = fields_of(params.command, completed, status.kind, confinement)
        output = plain_output(completed.output)
        block = TerminalBlock(params.command, output, completed.exit_code, str(self._shell.root))
        return ToolResult(fields, block)

    def _milliseconds(self, params: BashParams) -> int:
        usual = self._shell.options.timeout_ms
        asked = params.timeout_ms if params.timeout_ms and params.timeout_ms > 0 else usual
        return min(asked, MOST_MILLISECONDS)

    def _not_started(self, error: OSError) -> ToolError:
        shell, root = self._shell.options.shell, self._shell.root
        if error.errno == errno.E2BIG:
            hint = "Write it to a file and run the file."
            return ToolError(ErrorType.TOO_LARGE, "The command is longer than the system allows.", hint)
        if not root.is_dir():
            return ToolError(ErrorType.EXECUTION_FAILED, f"The folder {root} is gone.")
        message = f"The shell {shell} did not start: {error.strerror}."
        return ToolError(ErrorType.NOT_INSTALLED, message, "Check the setting bash.shell.")


def _model_description(params: BashParams) -> tuple[str, ...]:
    """Quote the model's own description, so that it cannot pass for something that was found out."""
    if not params.description:
        return ()
    said = params.description
    shortened = said if len(said) <= MOST_SAID else f"{said[:MOST_SAID]}…"
    return (f'the model says: "{shortened}"',)


class JobParams(Params):
    job_id: str


def job_of(jobs: JobTable, job_id: str) -> Job:
    job = jobs.get(job_id)
    if job is None:
        known = ", ".join(jobs.ids())
        hint = f"Known jobs: {known}." if known else "No job has been started in this session."
        raise ToolError(ErrorType.INVALID_TOOL_PARAMS, f"invalid args: job_id: no job {job_id[:100]!r}", hint)
    return job


def news_result(news: JobOutput, directory: str) -> ToolResult:
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


class JobTool(Tool[JobParams]):
    params = JobParams

    def __init__(self, shell: SessionShell) -> None:
        self._shell = shell

    def summary(self, params: JobParams) -> str:
        return params.job_id


class BashKillTool(JobTool):
    name = "bash_kill"
    kind = ToolKind.EXECUTE
    display_name = "End job"
    permission = "bash_kill"

    async def access(self, params: JobParams, ctx: ToolContext) -> Access:
        job = self._shell.jobs.get(params.job_id)
        preview = TextBlock(f"End {params.job_id}: {job.command}") if job else None
        return Access((Target(TargetKind.NAME, params.job_id, writes=True),), preview=preview)

    async def run(self, params: JobParams, ctx: ToolContext) -> ToolResult:
        job = job_of(self._shell.jobs, params.job_id)
        await job.kill()
        return news_result(job.read_new_output(), str(self._shell.root))


class BashOutputTool(JobTool):
    name = "bash_output"
    kind = ToolKind.READ
    display_name = "Job output"
    permission = "bash_output"

    async def access(self, params: JobParams, ctx: ToolContext) -> Access:
        return Access((Target(TargetKind.NAME, params.job_id),))

    async def run(self, params: JobParams, ctx: ToolContext) -> ToolResult:
        job = job_of(self._shell.jobs, params.job_id)
        return news_result(job.read_new_output(), str(self._shell.root))
