"""A tool that a command brought: its name goes to another command, its arguments follow as JSON."""

import asyncio
import json
import shlex
from dataclasses import dataclass

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import TerminalBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.shell.confinement import NOTHING_MORE
from coder_tui.shell.piped import Answer
from coder_tui.shell.session_shell import SessionShell
from coder_tui.text.safe_text import safe_line
from coder_tui.text.terminal_text import plain_output
from coder_tui.tools.base import Access, Tool, ToolContext, ToolResult
from coder_tui.tools.discovered_declarations import Declaration, Declared, read_declarations
from coder_tui.tools.foreign import ForeignParams

MOST_BYTES = 10_000_000
_LAST_WORDS = 300
_SUMMARY = 80


@dataclass(frozen=True, slots=True)
class DiscoveryCommands:
    """The section `tools` of the settings; times in seconds. `is_own`: the person's, not a project's."""

    discover: str
    call: str
    discovery_limit: float = 30.0
    call_limit: float = 120.0
    is_own: bool = True


class DiscoveredTool(Tool[ForeignParams]):
    kind = ToolKind.OTHER

    def __init__(self, declaration: Declaration, commands: DiscoveryCommands, shell: SessionShell) -> None:
        self.name = self.permission = declaration.name
        self.display_name = safe_line(declaration.own_name)
        self.params = declaration.params
        self.described = declaration.description
        self._command = f"{commands.call} {shlex.quote(declaration.own_name)}"
        self._limit = commands.call_limit
        self._shell = shell

    def summary(self, params: ForeignParams) -> str:
        given = ", ".join(f"{name}={value}" for name, value in params.arguments.items())
        return given if len(given) <= _SUMMARY else f"{given[:_SUMMARY]}…"

    async def access(self, params: ForeignParams, ctx: ToolContext) -> Access:
        confinement = await asyncio.to_thread(self._shell.confinement_of, self._command)
        given = json.dumps(params.arguments, indent=2, ensure_ascii=False)
        return Access(
            (),
            preview=TerminalBlock(self._command, given, None, str(self._shell.root)),
            facts=("the arguments go to this command as JSON",),
            sandbox=self._shell.sandbox.status.describe(confinement),
        )

    async def run(self, params: ForeignParams, ctx: ToolContext) -> ToolResult:
        given = json.dumps(params.arguments, ensure_ascii=False)
        confinement = await asyncio.to_thread(self._shell.confinement_of, self._command)
        try:
            answer = await self._shell.converse(
                self._command,
                given,
                confinement,
                time_limit=self._limit,
                limit=MOST_BYTES,
                on_output=ctx.progress,
            )
        except OSError as error:
            message = f"The command of this tool did not start: {error.strerror or error}."
            raise ToolError(ErrorType.DISCOVERED_TOOL_ERROR, message) from error
        if answer.exit_code or answer.is_cut:
            raise self._failure(answer)
        output = plain_output(answer.stdout)
        block = TerminalBlock(self._command, output, answer.exit_code, str(self._shell.root))
        return ToolResult({"ok": True, "stdout": output}, block)

    def _failure(self, answer: Answer) -> ToolError:
        fields: dict[str, object] = {
            "exit_code": answer.exit_code,
            "signal": answer.signal or None,
            "stdout": plain_output(answer.stdout),
            "stderr": plain_output(answer.stderr),
        }
        kind = ErrorType.TIMEOUT if answer.timed_out else ErrorType.DISCOVERED_TOOL_ERROR
        said = plain_output(answer.stderr).strip()[-_LAST_WORDS:]
        message = f"{self.display_name} {answer.ending}"
        return ToolError(kind, f"{message}: {said}" if said else f"{message}.", fields=fields)


async def discover(commands: DiscoveryCommands, shell: SessionShell) -> Declared:
    """Ask the discovering command. Never raises but for cancellation: what went wrong is a problem."""
    if not commands.call:
        return Declared(problems=("tools.call_command is not set, so no tool could be called",))
    # Nobody is asked before it runs: a project's gets nothing by naming it.
    confinement = NOTHING_MORE
    if commands.is_own:
        confinement = await asyncio.to_thread(shell.confinement_of, commands.discover)
    try:
        answer = await shell.converse(
            commands.discover, "", confinement, time_limit=commands.discovery_limit, limit=MOST_BYTES
        )
    except OSError as error:
        return Declared(problems=(f"it did not start: {error.strerror or error}",))
    except ToolError as error:
        return Declared(problems=(error.message,))
    if answer.exit_code or answer.is_cut:
        said = plain_output(answer.stderr).strip()[-_LAST_WORDS:]
        return Declared(problems=(f"it {answer.ending}{f': {said}' if said else ''}",))
    return await asyncio.to_thread(read_declarations, answer.stdout)
