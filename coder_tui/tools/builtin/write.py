"""The `write` tool: a file's whole content."""

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.errors import ToolError
from coder_tui.tools.base import Access, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.approved import locate_approved
from coder_tui.tools.editing.change import (
    FileChange,
    change_summary,
    check_text,
    declare,
    declare_failing,
    diff_block,
    diff_fields,
)
from coder_tui.tools.editing.rewrite import rewritten
from coder_tui.workspace.confine import Located, Workspace
from coder_tui.workspace.files import load_if_there
from coder_tui.workspace.ledger import ReadLedger


class WriteParams(Params):
    path: str
    content: str


class WriteTool(Tool[WriteParams]):
    """Creates a file, or overwrites one that was read and has not changed since."""

    name = "write"
    kind = ToolKind.EDIT
    display_name = "Write"
    params = WriteParams
    permission = "edit"
    editable = "content"

    def __init__(self, workspace: Workspace, ledger: ReadLedger) -> None:
        self._workspace = workspace
        self._ledger = ledger

    def variables(self) -> dict[str, object]:
        return {"directory": self._workspace.root}

    def summary(self, params: WriteParams) -> str:
        return params.path

    async def access(self, params: WriteParams, ctx: ToolContext) -> Access:
        check_text("content", params.content)
        located = self._workspace.locate(params.path)
        self._workspace.check_write(located)
        try:
            change = await self._change(params, located)
        except ToolError as error:
            return declare_failing(located, error)
        return await declare(change)

    async def run(self, params: WriteParams, ctx: ToolContext) -> ToolResult:
        check_text("content", params.content)
        located = locate_approved(self._workspace, params.path, ctx)
        self._workspace.check_write(located)
        async with self._ledger.lock(located.path):
            change = await self._change(params, located)
            change = change.allowed(ctx)
            await change.write(self._ledger)
        return await write_result(change)

    async def _change(self, params: WriteParams, located: Located) -> FileChange:
        before = await load_if_there(located)
        if before is None:
            return FileChange(located, None, params.content)
        self._ledger.check_overwrite(located, before.digest)
        return FileChange(located, before, rewritten(before, params.content))


async def write_result(change: FileChange) -> ToolResult:
    """What is told of a file that was written whole."""
    diff = await change.diff()
    shown = change.located.shown
    fields = {
        "ok": True,
        "path": shown,
        "operation": "create" if change.before is None else "overwrite",
        "size": len(change.data),
        **diff_fields(diff),
    }
    return ToolResult(fields, diff_block(change, diff), change_summary(change, diff), (shown,))
