"""The `list` tool: one folder's entries.

A folder's listing as a tool's result, which `list` and `read` share.
"""

import asyncio
import stat

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access, JsonObject, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.editing.change import declare_reading, locate_approved
from coder_tui.workspace.files.confine import Located, Workspace, folder_or_file
from coder_tui.workspace.search.listing import Entry, Listing, list_folder

MOST_ENTRIES = 1_000


async def folder_result(located: Located) -> ToolResult:
    listing = await asyncio.to_thread(list_folder, located, MOST_ENTRIES)
    fields: JsonObject = {
        "ok": True,
        "path": located.shown,
        "items": [
            {"name": entry.name, "path": entry.path, "is_dir": entry.is_dir, "size_bytes": entry.size_bytes}
            for entry in listing.entries
        ],
    }
    if listing.truncated:
        fields["truncated"] = True
    return ToolResult(fields, TextBlock(_text(listing)), f"{located.shown}: {_count(listing)}")


def _text(listing: Listing) -> str:
    lines = [_line(entry) for entry in listing.entries]
    return "\n".join([*lines, "…"] if listing.truncated else lines)


def _line(entry: Entry) -> str:
    return f"{entry.name}/" if entry.is_dir else entry.name


def _count(listing: Listing) -> str:
    count = len(listing.entries)
    return f"{count}{'+' if listing.truncated else ''} {'entry' if count == 1 else 'entries'}"


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
