"""The `create_file` tool: a file that was not there, and never over one that was."""

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.approved import locate_approved
from coder_tui.tools.builtin.write import write_result
from coder_tui.tools.editing.change import FileChange, check_text, declare, declare_failing
from coder_tui.workspace.confine import Located, Workspace, explain
from coder_tui.workspace.ledger import ReadLedger


class CreateFileParams(Params):
    path: str
    content: str = ""


class CreateFileTool(Tool[CreateFileParams]):
    name = "create_file"
    kind = ToolKind.EDIT
    display_name = "Create file"
    params = CreateFileParams
    permission = "edit"
    editable = "content"

    def __init__(self, workspace: Workspace, ledger: ReadLedger) -> None:
        self._workspace = workspace
        self._ledger = ledger

    def variables(self) -> dict[str, object]:
        return {"directory": self._workspace.root}

    def summary(self, params: CreateFileParams) -> str:
        return params.path

    async def access(self, params: CreateFileParams, ctx: ToolContext) -> Access:
        check_text("content", params.content)
        located = self._workspace.locate(params.path)
        self._workspace.check_write(located)
        try:
            _check_free(located)
        except ToolError as error:
            return declare_failing(located, error)
        return await declare(FileChange(located, None, params.content))

    async def run(self, params: CreateFileParams, ctx: ToolContext) -> ToolResult:
        check_text("content", params.content)
        located = locate_approved(self._workspace, params.path, ctx)
        self._workspace.check_write(located)
        async with self._ledger.lock(located.path):
            _check_free(located)
            change = FileChange(located, None, params.content).allowed(ctx)
            try:
                await change.write(self._ledger)
            except ToolError as error:
                raise _exists(located) if error.type is ErrorType.STALE_FILE else error from error
        return await write_result(change)


def _check_free(located: Located) -> None:
    try:
        located.path.lstat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise explain(error, located) from error
    raise _exists(located)


def _exists(located: Located) -> ToolError:
    return ToolError(
        ErrorType.ALREADY_EXISTS,
        f"{located.shown} exists already.",
        "Read it, then use edit or write; or choose another name.",
        {"path": located.shown},
    )
