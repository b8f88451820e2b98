"""Tools that the user's discovery command lists.

The discovery command prints function declarations, in any of the usual forms. A call passes the tool's name
to another command and the arguments as JSON.
"""

import asyncio
import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import TerminalBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.shell.sandbox.confinement import NOTHING_MORE
from coder_tui.shell.session_shell import Answer, AnswerLimits, SessionShell
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.text.terminal import plain_output
from coder_tui.tools.base import Access, Tool, ToolContext, ToolResult
from coder_tui.tools.foreign import ForeignParams, SchemaError, foreign_params, valid_name

PREFIX = "discovered_tool_"
MOST_TOOLS = 100
LONGEST_DESCRIPTION = 4_000
_WRAPPERS = ("function_declarations", "functionDeclarations")
_SCHEMAS = ("parametersJsonSchema", "parameters", "inputSchema", "input_schema")


@dataclass(frozen=True, slots=True)
class Declaration:
    """`own_name` is passed to the calling command; `name` is what models and rules use."""

    name: str
    own_name: str
    description: str
    params: type[ForeignParams]


@dataclass(frozen=True, slots=True)
class Declared:
    """`problems` describe what could not be used."""

    declarations: tuple[Declaration, ...] = ()
    problems: tuple[str, ...] = ()


def read_declarations(text: str) -> Declared:
    """Parse declarations. Never raises: problems are reported, and the rest is used."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Declared(problems=(f"it did not print JSON ({str(error)[:100]})",))
    if not isinstance(given, list | Mapping):
        return Declared(problems=("it did not print a list of tools",))
    found: dict[str, Declaration] = {}
    problems: list[str] = []
    for place, each in enumerate(_unwrapped(given), 1):
        try:
            declaration = _declaration(each)
        except SchemaError as error:
            problems.append(f"tool {place}: {error}")
            continue
        if declaration.name in found:
            problems.append(f"tool {place}: the name {safe_line(declaration.own_name)} is taken")
        elif len(found) == MOST_TOOLS:
            problems.append(f"there are more than {MOST_TOOLS} tools; the rest are left out")
            break
        else:
            found[declaration.name] = declaration
    return Declared(tuple(found.values()), tuple(problems))


def _unwrapped(given: object) -> Iterator[object]:
    if isinstance(given, Mapping) and (key := next((key for key in _WRAPPERS if key in given), "")):
        inner = given[key]
        yield from inner if isinstance(inner, list) else (inner,)
    elif isinstance(given, Mapping) and isinstance(given.get("function"), Mapping):
        yield given["function"]
    elif isinstance(given, list):
        for each in given:
            # A list within a list is not a declaration and is reported as such.
            yield from _unwrapped(each) if isinstance(each, Mapping) else (each,)
    else:
        yield given


def _declaration(given: object) -> Declaration:
    if not isinstance(given, Mapping):
        raise SchemaError("it is not a declaration")
    name = given.get("name")
    if not isinstance(name, str) or not name.strip() or "\0" in name:
        raise SchemaError("it has no name")
    try:
        params = foreign_params(next((given[key] for key in _SCHEMAS if given.get(key) is not None), None))
    except SchemaError as error:
        raise SchemaError(f"{safe_line(name)[:60]}: {error}") from error
    description = given.get("description")
    text = safe_text(description)[:LONGEST_DESCRIPTION] if isinstance(description, str) else ""
    return Declaration(valid_name(PREFIX, name), name, text or f"The tool {name}.", params)


MOST_BYTES = 10_000_000
_LAST_WORDS = 300
_SUMMARY = 80


@dataclass(frozen=True, slots=True)
class DiscoveryCommands:
    """The section `tools` of the settings; times in seconds. `is_own`: the user's, not a project's."""

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
            limits = AnswerLimits(self._limit, MOST_BYTES)
            answer = await self._shell.run_with_input(
                self._command, given, confinement, limits, on_output=ctx.progress
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
    """Run the discovery command. Only raises if cancelled; failures become problems."""
    if not commands.call:
        return Declared(problems=("tools.call_command is not set, so no tool could be called",))
    # It runs without approval, so a project's command gets nothing by naming it.
    confinement = NOTHING_MORE
    if commands.is_own:
        confinement = await asyncio.to_thread(shell.confinement_of, commands.discover)
    try:
        limits = AnswerLimits(commands.discovery_limit, MOST_BYTES)
        answer = await shell.run_with_input(commands.discover, "", confinement, limits)
    except OSError as error:
        return Declared(problems=(f"it did not start: {error.strerror or error}",))
    except ToolError as error:
        return Declared(problems=(error.message,))
    if answer.exit_code or answer.is_cut:
        said = plain_output(answer.stderr).strip()[-_LAST_WORDS:]
        return Declared(problems=(f"it {answer.ending}{f': {said}' if said else ''}",))
    return await asyncio.to_thread(read_declarations, answer.stdout)
