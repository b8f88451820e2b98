"""The `bash` tool: a command in the person's shell."""

import errno
import os
import re
from dataclasses import dataclass

from pydantic import field_validator

from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.display import TerminalBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.shell.environment import clean_environment
from coder_tui.shell.process import Completed, run_command, shell_argv
from coder_tui.tools.base import Access, JsonObject, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.editing.change import check_text
from coder_tui.workspace.confine import Workspace
from coder_tui.workspace.files import digest_of

MOST_MILLISECONDS = 600_000
MOST_SAID = 120
_WANTED_INPUT = re.compile(
    r"EOFError|EOF when reading|not a (tty|terminal)|no tty|terminal is required|[Ii]nappropriate ioctl"
)


@dataclass(frozen=True, slots=True)
class BashLimits:
    shell: str = "/bin/sh"
    timeout_ms: int = 120_000
    output_limit_bytes: int = 30_000


class BashParams(Params):
    command: str
    timeout_ms: int | None = None
    description: str | None = None

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

    def __init__(self, workspace: Workspace, limits: BashLimits) -> None:
        self._workspace = workspace
        self._limits = limits

    def variables(self) -> dict[str, object]:
        return {
            "directory": self._workspace.root,
            "shell": self._limits.shell,
            "timeout_ms": self._limits.timeout_ms,
            "max_timeout_ms": MOST_MILLISECONDS,
            "output_limit": self._limits.output_limit_bytes,
        }

    def summary(self, params: BashParams) -> str:
        first, _, rest = params.command.strip().partition("\n")
        return f"{first} …" if rest else first

    async def access(self, params: BashParams, ctx: ToolContext) -> Access:
        check_text("command", params.command)
        directory = str(self._workspace.root)
        return Access(
            (Target(TargetKind.COMMAND, params.command, writes=True),),
            preview=TerminalBlock(params.command, "", None, directory),
            fingerprint=digest_of(params.command.encode()),
            facts=_said(params.description),
        )

    async def run(self, params: BashParams, ctx: ToolContext) -> ToolResult:
        check_text("command", params.command)
        completed = await self._complete(params, ctx)
        block = TerminalBlock(
            params.command, completed.output, completed.exit_code, str(self._workspace.root)
        )
        return ToolResult(_fields(params, completed), block)

    async def _complete(self, params: BashParams, ctx: ToolContext) -> Completed:
        try:
            return await run_command(
                shell_argv(self._limits.shell, params.command),
                directory=self._workspace.root,
                time_limit=self._milliseconds(params) / 1000,
                limit=self._limits.output_limit_bytes,
                environment=clean_environment(os.environ),
                on_output=ctx.progress,
            )
        except OSError as error:
            raise self._not_started(error) from error

    def _milliseconds(self, params: BashParams) -> int:
        asked = params.timeout_ms if params.timeout_ms and params.timeout_ms > 0 else self._limits.timeout_ms
        return min(asked, MOST_MILLISECONDS)

    def _not_started(self, error: OSError) -> ToolError:
        if error.errno == errno.E2BIG:
            hint = "Write it to a file and run that."
            return ToolError(ErrorType.TOO_LARGE, "The command is longer than the system takes.", hint)
        if not self._workspace.root.is_dir():
            return ToolError(ErrorType.EXECUTION_FAILED, f"The folder {self._workspace.root} is gone.")
        message = f"The shell {self._limits.shell} did not start: {error.strerror}."
        return ToolError(ErrorType.NOT_INSTALLED, message, "The setting bash.shell names it.")


def _fields(params: BashParams, completed: Completed) -> JsonObject:
    fields: JsonObject = {
        "ok": completed.exit_code == 0,
        "command": params.command,
        "exit_code": completed.exit_code,
        "stdout": completed.stdout,
        "stderr": completed.stderr,
        "truncated": completed.truncated,
        "duration_ms": completed.duration_ms,
    }
    if completed.exit_code:
        fields["error"] = _error(completed)
    return fields


def _error(completed: Completed) -> JsonObject:
    if completed.timed_out:
        message = f"The command was stopped after {completed.duration_ms} ms."
        return {"type": ErrorType.TIMEOUT.value, "message": message, "hint": "Give a larger timeout_ms."}
    message = f"The command ended with exit code {completed.exit_code}."
    error = {"type": ErrorType.EXECUTION_FAILED.value, "message": message}
    if _WANTED_INPUT.search(completed.stderr):
        error["hint"] = "It wanted input, and there is none: pass answers as arguments or through a pipe."
    return error


def _said(description: str | None) -> tuple[str, ...]:
    """The model's own words, marked as such: they must not pass for something that was found out."""
    if not description:
        return ()
    shortened = description if len(description) <= MOST_SAID else f"{description[:MOST_SAID]}…"
    return (f'the model says: "{shortened}"',)
