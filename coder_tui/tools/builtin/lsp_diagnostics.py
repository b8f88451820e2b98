"""The `lsp_diagnostics` tool: what language servers find in a file."""

from coder_tui.lsp.pool import FileProblems, LspPool
from coder_tui.lsp.report import problem_json
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.diagnostics import Diagnostic, ServerStatus
from coder_tui.protocol.display import TextBlock
from coder_tui.tools.base import Access, JsonObject, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.approved import declare_reading
from coder_tui.tools.builtin.lsp_answers import read_for_servers, unanswered
from coder_tui.workspace.confine import Workspace

FALLBACK = "run the project's own checks with bash, or grep"
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
            raise unanswered(found.status, located.shown, found.detail, FALLBACK)
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
