"""The `list` tool: one folder's entries."""

import stat

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.approved import declare_reading, locate_approved
from coder_tui.tools.builtin.folder_result import MOST_ENTRIES, folder_result
from coder_tui.workspace.confine import Workspace, folder_or_file


class ListParams(Params):
    path: str = "."


class ListTool(Tool[ListParams]):
    name = "list"
    kind = ToolKind.READ
    display_name = "List"
    params = ListParams
    permission = "list"

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def variables(self) -> dict[str, object]:
        return {"directory": self._workspace.root, "max_entries": MOST_ENTRIES}

    def summary(self, params: ListParams) -> str:
        return params.path

    async def access(self, params: ListParams, ctx: ToolContext) -> Access:
        return declare_reading(self._workspace.locate(params.path))

    async def run(self, params: ListParams, ctx: ToolContext) -> ToolResult:
        located = locate_approved(self._workspace, params.path, ctx)
        if not stat.S_ISDIR(folder_or_file(located).st_mode):
            message = f"{located.shown} is a file, not a folder."
            raise ToolError(ErrorType.EXECUTION_FAILED, message, "Use read.", {"path": located.shown})
        return await folder_result(located)
