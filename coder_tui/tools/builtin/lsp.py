"""The `lsp_definition` tool: where what stands at a place is defined.

The `lsp_hover` tool: the type and documentation of what stands at a place.

The `lsp_references` tool: where what stands at a place is used.

A tool that asks language servers about one place: the same for definition, references and hover.

The `lsp_symbols` tool: what a file defines, or where in the workspace a name is defined.

The `lsp_diagnostics` tool: what language servers find in a file.
"""

from abc import abstractmethod
from typing import ClassVar, Self

from pydantic import model_validator

from coder_tui.lsp.pool import FileProblems, LspPool
from coder_tui.lsp.report import problem_json
from coder_tui.lsp.wire import Answered, Question, Symbol
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.diagnostics import Diagnostic, ServerStatus
from coder_tui.protocol.display import MarkdownBlock, TextBlock
from coder_tui.tools.base import Access, JsonObject, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.lsp_places import (
    PositionParams,
    place_json,
    places_text,
    read_for_servers,
    resolve,
    shown_place,
    symbol_json,
    unanswered,
)
from coder_tui.tools.editing.change import declare_reading
from coder_tui.workspace.files.confine import Workspace


class LspPlaceTool(Tool[PositionParams]):
    kind = ToolKind.READ
    params = PositionParams
    permission = "lsp"
    question: ClassVar[Question]
    fallback: ClassVar[str]
    """What a model can do where no server answers."""

    def __init__(self, workspace: Workspace, pool: LspPool) -> None:
        self.workspace = workspace
        self._pool = pool

    def summary(self, params: PositionParams) -> str:
        return params.place

    async def access(self, params: PositionParams, ctx: ToolContext) -> Access:
        return declare_reading(self.workspace.locate(params.path))

    async def run(self, params: PositionParams, ctx: ToolContext) -> ToolResult:
        located, text = await read_for_servers(self.workspace, params.path, ctx)
        at = resolve(params, text)
        answer = await self._pool.ask(self.question, located.path, text, line=at.line, character=at.character)
        if not self.is_answered(answer):
            raise unanswered(answer.status, located.shown, answer.detail, self.fallback)
        told: JsonObject = {"asked_line": at.text, "server_status": str(answer.status)}
        return self.result(params.place, answer, told)

    @abstractmethod
    def is_answered(self, answer: Answered) -> bool:
        """Whether the answer is worth telling."""

    @abstractmethod
    def result(self, place: str, answer: Answered, told: JsonObject) -> ToolResult:
        """`told` are the fields that all answers have."""


class LspDefinitionTool(LspPlaceTool):
    name = "lsp_definition"
    display_name = "Definition"
    question = Question.DEFINITION
    fallback = "grep the symbol"

    def is_answered(self, answer: Answered) -> bool:
        return bool(answer.places)

    def result(self, place: str, answer: Answered, told: JsonObject) -> ToolResult:
        first, *more = (place_json(found, self.workspace) for found in answer.places)
        fields: JsonObject = {"ok": True, "location": first, **({"more": more} if more else {}), **told}
        return ToolResult(fields, TextBlock(places_text(answer.places, self.workspace)), place)


class LspHoverTool(LspPlaceTool):
    name = "lsp_hover"
    display_name = "Hover"
    question = Question.HOVER
    fallback = "read the source"

    def is_answered(self, answer: Answered) -> bool:
        return bool(answer.contents)

    def result(self, place: str, answer: Answered, told: JsonObject) -> ToolResult:
        fields: JsonObject = {"ok": True, "contents": answer.contents, **told}
        return ToolResult(fields, MarkdownBlock(answer.contents), place)


class LspReferencesTool(LspPlaceTool):
    name = "lsp_references"
    display_name = "References"
    question = Question.REFERENCES
    fallback = "grep the symbol"

    def is_answered(self, answer: Answered) -> bool:
        return answer.status is ServerStatus.FRESH

    def result(self, place: str, answer: Answered, told: JsonObject) -> ToolResult:
        locations = [place_json(found, self.workspace) for found in answer.places]
        count = len(locations)
        fields: JsonObject = {"ok": True, "locations": locations, "count": count, **told}
        summary = f"{place}: {count} place{'' if count == 1 else 's'}"
        return ToolResult(fields, TextBlock(places_text(answer.places, self.workspace)), summary)


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
        told = f"{self.summary(params)}: {len(found)} symbol{'' if len(found) == 1 else 's'}"
        return ToolResult(fields, TextBlock("\n".join(map(self._line, found))), told)

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
_OLD = "about an earlier text; of this one nothing is known yet"


class LspDiagnosticsParams(Params):
    path: str


class LspDiagnosticsTool(Tool[LspDiagnosticsParams]):
    name = "lsp_diagnostics"
    kind = ToolKind.READ
    display_name = "Problems"
    params = LspDiagnosticsParams
    permission = "lsp"

    def __init__(self, workspace: Workspace, pool: LspPool) -> None:
        self._workspace = workspace
        self._pool = pool

    def summary(self, params: LspDiagnosticsParams) -> str:
        return params.path

    async def access(self, params: LspDiagnosticsParams, ctx: ToolContext) -> Access:
        return declare_reading(self._workspace.locate(params.path))

    async def run(self, params: LspDiagnosticsParams, ctx: ToolContext) -> ToolResult:
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
    told = f"{shown}: {count}" if found.status is ServerStatus.FRESH else f"{shown}: {count} ({note})"
    return ToolResult(fields, TextBlock("\n".join(map(_line, found.items)) or note), told)


def _line(item: Diagnostic) -> str:
    origin = " ".join(word for word in (item.source, item.code) if word)
    return f"{item.line}:{item.character}  {item.severity}  {item.message}{f'  ({origin})' if origin else ''}"
