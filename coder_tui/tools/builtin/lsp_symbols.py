"""The `lsp_symbols` tool: what a file defines, or where in the workspace a name is defined."""

from typing import Self

from pydantic import model_validator

from coder_tui.lsp.pool import LspPool
from coder_tui.lsp.wire import Answered, Question, Symbol
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.protocol.display import TextBlock
from coder_tui.tools.base import Access, JsonObject, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.approved import declare_reading
from coder_tui.tools.builtin.lsp_answers import read_for_servers, shown_place, symbol_json, unanswered
from coder_tui.workspace.confine import Workspace

FALLBACK = "outline, or grep the symbol"


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
            raise unanswered(answer.status, params.path or "this workspace", answer.detail, FALLBACK)
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
