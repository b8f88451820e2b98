"""Tools that ask language servers: definition, references, hover, symbols and diagnostics.

A model names a place by line and character from 0, or by a symbol.
"""

import re
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

from pydantic import Field, model_validator

from coder_tui.lsp.document import lines_of, path_of
from coder_tui.lsp.pool import FileProblems, LspPool
from coder_tui.lsp.report import problem_json
from coder_tui.lsp.wire import LARGEST_TEXT, Answered, Place, Question, Symbol
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.diagnostics import Diagnostic, ServerStatus
from coder_tui.protocol.display import MarkdownBlock, TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import (
    Access,
    JsonObject,
    Params,
    PathParams,
    PathReadingTool,
    Tool,
    ToolContext,
    ToolResult,
    declare_reading,
    locate_approved,
)
from coder_tui.workspace.files.confine import Located, Workspace
from coder_tui.workspace.files.text import load

NOT_YET = "nothing is known yet, which does not mean that there is nothing"
_FAILURES = {
    ServerStatus.NOT_INSTALLED: ErrorType.NOT_INSTALLED,
    ServerStatus.UNSUPPORTED: ErrorType.NOT_INSTALLED,
    ServerStatus.UNTRUSTED: ErrorType.PERMISSION_DENIED,
    ServerStatus.CRASHED: ErrorType.EXECUTION_FAILED,
    ServerStatus.STARTING: ErrorType.TIMEOUT,
    ServerStatus.PENDING: ErrorType.TIMEOUT,
}
_MESSAGES = {
    ServerStatus.NOT_INSTALLED: "There is no language server for {shown}.",
    ServerStatus.UNSUPPORTED: "No language server supports this for {shown}.",
    ServerStatus.UNTRUSTED: "Language servers do not run here.",
    ServerStatus.CRASHED: "The language server for {shown} failed.",
    ServerStatus.STARTING: "The language server for {shown} is still starting: " + NOT_YET + ".",
    ServerStatus.PENDING: "The language server has not answered about {shown}: " + NOT_YET + ".",
}


async def read_for_servers(workspace: Workspace, path: str, ctx: ToolContext) -> tuple[Located, str]:
    """Return the approved file's path and text."""
    located = locate_approved(workspace, path, ctx)
    file = await load(located)
    if len(file.text) > LARGEST_TEXT:
        message = f"{located.shown} is too large for language servers."
        raise ToolError(ErrorType.TOO_LARGE, message, "Use grep and read.", {"path": located.shown})
    return located, file.shown


def unanswered(status: ServerStatus, shown: str, detail: str, fallback: str) -> ToolError:
    """Explain why there is no answer, how to fix it, and what to do instead."""
    hint = f"{detail}. Without a server: {fallback}." if detail else f"Without a server: {fallback}."
    return ToolError(
        _FAILURES.get(status, ErrorType.NO_MATCH),
        _MESSAGES.get(status, "The language server has no answer for this place in {shown}.").format(
            shown=shown
        ),
        # The first word of this hint is a program's name, which has no capital.
        hint if status is ServerStatus.NOT_INSTALLED else f"{hint[0].upper()}{hint[1:]}",
        {"server_status": str(status), "fallback": fallback},
    )


def place_json(place: Place, workspace: Workspace) -> JsonObject:
    fields: JsonObject = {
        "uri": place.uri,
        "range": {
            "start": {"line": place.line, "character": place.character},
            "end": {"line": place.end_line, "character": place.end_character},
        },
        "path": shown_place(place, workspace),
    }
    if place.text:
        fields["text"] = place.text
    return fields


def symbol_json(symbol: Symbol, workspace: Workspace) -> JsonObject:
    fields: JsonObject = {"name": symbol.name, "kind": symbol.kind}
    if symbol.container:
        fields["container"] = symbol.container
    place = symbol.place
    return {
        **fields,
        "path": shown_place(place, workspace),
        "line": place.line,
        "character": place.character,
    }


def shown_place(place: Place, workspace: Workspace) -> str:
    """Name a file as this session does; return the URI if it is not a file."""
    path = path_of(place.uri)
    return workspace.locate(path).shown if path else place.uri


def places_text(places: Iterable[Place], workspace: Workspace) -> str:
    """Return the text for the user, who counts from 1."""
    return "\n".join(
        f"{shown_place(place, workspace)}:{place.line + 1}:{place.character + 1}  {place.text}".rstrip()
        for place in places
    )


_LONGEST_ECHO = 300


class PositionParams(PathParams):
    line: int | None = Field(default=None, ge=0)
    character: int | None = Field(default=None, ge=0)
    symbol: str | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _names_a_place(self) -> Self:
        if self.symbol is None and (self.line is None or self.character is None):
            raise ValueError("give line and character, or symbol")
        return self

    @property
    def place(self) -> str:
        """Return the text for the user, who counts from 1."""
        if self.symbol is not None:
            return f"{self.symbol} in {self.path}"
        return f"{self.path}:{(self.line or 0) + 1}:{(self.character or 0) + 1}"


@dataclass(frozen=True, slots=True)
class Position:
    """`text` is the line, so that a model sees whether it meant this one."""

    line: int
    character: int
    text: str


def resolve(params: PositionParams, text: str) -> Position:
    lines = lines_of(text)
    if params.symbol is not None and params.character is None:
        return _by_symbol(params.symbol, params.line, lines)
    line, character = params.line or 0, params.character or 0
    if line >= len(lines):
        raise _outside("line", f"{params.path} has lines 0 to {len(lines) - 1}")
    if character > len(lines[line]):
        raise _outside("character", f"line {line} has characters 0 to {len(lines[line])}")
    return Position(line, character, lines[line].strip()[:_LONGEST_ECHO])


def _by_symbol(symbol: str, line: int | None, lines: list[str]) -> Position:
    # The last part of a dotted name is what it means.
    name = symbol.rpartition(".")[2] or symbol
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    wanted = range(len(lines)) if line is None else range(line, min(line + 1, len(lines)))
    for number in wanted:
        if found := pattern.search(lines[number]):
            return Position(number, found.start(), lines[number].strip()[:_LONGEST_ECHO])
    where = "in the file" if line is None else f"in line {line}"
    raise ToolError(ErrorType.NO_MATCH, f"{symbol} does not occur {where}.", "Find it with grep first.")


def _outside(field: str, reason: str) -> ToolError:
    return ToolError(ErrorType.INVALID_TOOL_PARAMS, f"invalid args: {field}: {reason}, counted from 0")


class LspPlaceTool(PathReadingTool[PositionParams]):
    params = PositionParams
    permission = "lsp"
    question: ClassVar[Question]
    fallback: ClassVar[str]
    """What a model can do if no server answers."""

    def __init__(self, workspace: Workspace, pool: LspPool) -> None:
        super().__init__(workspace)
        self._pool = pool

    def summary(self, params: PositionParams) -> str:
        return params.place

    async def run(self, params: PositionParams, ctx: ToolContext) -> ToolResult:
        located, text = await read_for_servers(self._workspace, params.path, ctx)
        at = resolve(params, text)
        answer = await self._pool.ask(self.question, located.path, text, line=at.line, character=at.character)
        if not self.is_answered(answer):
            raise unanswered(answer.status, located.shown, answer.detail, self.fallback)
        common: JsonObject = {"asked_line": at.text, "server_status": str(answer.status)}
        return self.result(params.place, answer, common)

    @abstractmethod
    def is_answered(self, answer: Answered) -> bool:
        """Return whether the answer has anything to report."""

    @abstractmethod
    def result(self, place: str, answer: Answered, common: JsonObject) -> ToolResult:
        """Build the result; `common` has the fields of all answers."""


class LspDefinitionTool(LspPlaceTool):
    name = "lsp_definition"
    display_name = "Definition"
    question = Question.DEFINITION
    fallback = "grep the symbol"

    def is_answered(self, answer: Answered) -> bool:
        return bool(answer.places)

    def result(self, place: str, answer: Answered, common: JsonObject) -> ToolResult:
        first, *more = (place_json(found, self._workspace) for found in answer.places)
        fields: JsonObject = {"ok": True, "location": first, **({"more": more} if more else {}), **common}
        return ToolResult(fields, TextBlock(places_text(answer.places, self._workspace)), place)


class LspHoverTool(LspPlaceTool):
    name = "lsp_hover"
    display_name = "Hover"
    question = Question.HOVER
    fallback = "read the source"

    def is_answered(self, answer: Answered) -> bool:
        return bool(answer.contents)

    def result(self, place: str, answer: Answered, common: JsonObject) -> ToolResult:
        fields: JsonObject = {"ok": True, "contents": answer.contents, **common}
        return ToolResult(fields, MarkdownBlock(answer.contents), place)


class LspReferencesTool(LspPlaceTool):
    name = "lsp_references"
    display_name = "References"
    question = Question.REFERENCES
    fallback = "grep the symbol"

    def is_answered(self, answer: Answered) -> bool:
        return answer.status is ServerStatus.FRESH

    def result(self, place: str, answer: Answered, common: JsonObject) -> ToolResult:
        locations = [place_json(found, self._workspace) for found in answer.places]
        count = len(locations)
        fields: JsonObject = {"ok": True, "locations": locations, "count": count, **common}
        summary = f"{place}: {count} place{'' if count == 1 else 's'}"
        return ToolResult(fields, TextBlock(places_text(answer.places, self._workspace)), summary)


SYMBOLS_FALLBACK = "outline, or grep the symbol"


class LspSymbolsParams(Params):
    query: str | None = None
    path: str | None = None

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if not self.query and not self.path:
            raise ValueError("give path, query or both")
        return self


class LspSymbolsTool(Tool[LspSymbolsParams]):
    name = "lsp_symbols"
    kind = ToolKind.READ
    display_name = "Symbols"
    params = LspSymbolsParams
    permission = "lsp"

    def __init__(self, workspace: Workspace, pool: LspPool) -> None:
        self._workspace = workspace
        self._pool = pool

    def summary(self, params: LspSymbolsParams) -> str:
        return " in ".join(word for word in (params.query, params.path) if word)

    async def access(self, params: LspSymbolsParams, ctx: ToolContext) -> Access:
        return declare_reading(self._workspace.locate(params.path or "."))

    async def run(self, params: LspSymbolsParams, ctx: ToolContext) -> ToolResult:
        answer = await self._ask(params, ctx)
        if answer.status is not ServerStatus.FRESH:
            raise unanswered(answer.status, params.path or "this workspace", answer.detail, SYMBOLS_FALLBACK)
        wanted = (params.query or "").casefold() if params.path else ""
        found = [symbol for symbol in answer.symbols if wanted in symbol.name.casefold()]
        fields: JsonObject = {
            "ok": True,
            "symbols": [symbol_json(symbol, self._workspace) for symbol in found],
            "count": len(found),
            "server_status": str(answer.status),
        }
        summary = f"{self.summary(params)}: {len(found)} symbol{'' if len(found) == 1 else 's'}"
        return ToolResult(fields, TextBlock("\n".join(map(self._line, found))), summary)

    async def _ask(self, params: LspSymbolsParams, ctx: ToolContext) -> Answered:
        if params.path is None:
            return await self._pool.find_symbols(params.query or "")
        located, text = await read_for_servers(self._workspace, params.path, ctx)
        return await self._pool.ask(Question.SYMBOLS, located.path, text)

    def _line(self, symbol: Symbol) -> str:
        place = symbol.place
        return f"{shown_place(place, self._workspace)}:{place.line + 1}  {symbol.kind} {symbol.name}"


DIAGNOSTICS_FALLBACK = "run the project's own checks with bash, or grep"
_ANSWERED = frozenset({ServerStatus.FRESH, ServerStatus.LINTER_MISSING, ServerStatus.STALE})
_OLD = "about an earlier version of the file; nothing is known about this one yet"


class LspDiagnosticsTool(PathReadingTool[PathParams]):
    name = "lsp_diagnostics"
    display_name = "Problems"
    params = PathParams
    permission = "lsp"

    def __init__(self, workspace: Workspace, pool: LspPool) -> None:
        super().__init__(workspace)
        self._pool = pool

    async def run(self, params: PathParams, ctx: ToolContext) -> ToolResult:
        located, text = await read_for_servers(self._workspace, params.path, ctx)
        found = await self._pool.diagnostics(located.path, text)
        if found.status not in _ANSWERED:
            raise unanswered(found.status, located.shown, found.detail, DIAGNOSTICS_FALLBACK)
        return _result(located.shown, found)


def _result(shown: str, found: FileProblems) -> ToolResult:
    fields: JsonObject = {
        "ok": True,
        "path": shown,
        "diagnostics": [problem_json(item) for item in found.items],
        "count": found.total,
        "server_status": str(found.status),
    }
    note = _OLD if found.status is ServerStatus.STALE else found.detail
    if note:
        fields["note"] = note
    count = f"{found.total} problem{'' if found.total == 1 else 's'}"
    summary = f"{shown}: {count}" if found.status is ServerStatus.FRESH else f"{shown}: {count} ({note})"
    return ToolResult(fields, TextBlock("\n".join(map(_line, found.items)) or note), summary)


def _line(item: Diagnostic) -> str:
    origin = " ".join(word for word in (item.source, item.code) if word)
    return f"{item.line}:{item.character}  {item.severity}  {item.message}{f'  ({origin})' if origin else ''}"
