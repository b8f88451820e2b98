"""The `mkdir` tool: a folder, with those on the way to it."""

import asyncio
import os
import stat

from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.approved import locate_approved
from coder_tui.workspace.confine import Located, Workspace, explain, open_folder


class MkdirParams(Params):
    path: str


class MkdirTool(Tool[MkdirParams]):
    name = "mkdir"
    kind = ToolKind.EDIT
    display_name = "Make folder"
    params = MkdirParams
    permission = "edit"

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def variables(self) -> dict[str, object]:
        return {"directory": self._workspace.root}

    def summary(self, params: MkdirParams) -> str:
        return params.path

    async def access(self, params: MkdirParams, ctx: ToolContext) -> Access:
        located = self._workspace.locate(params.path)
        self._workspace.check_write(located)
        if located.is_inside:
            # Of what lies outside nothing is told before that is decided on.
            _is_folder(located)
        target = Target(TargetKind.PATH, str(located.path), writes=True)
        return Access((target,), preview=TextBlock(f"New folder: {located.shown}"))

    async def run(self, params: MkdirParams, ctx: ToolContext) -> ToolResult:
        located = locate_approved(self._workspace, params.path, ctx)
        self._workspace.check_write(located)
        created = not _is_folder(located)
        await asyncio.to_thread(_make, located)
        fields = {"ok": True, "path": located.shown, "created": created}
        words = f"{located.shown}/ was made" if created else f"{located.shown}/ was there already"
        return ToolResult(fields, TextBlock(words), words)


def _is_folder(located: Located) -> bool:
    """Whether the folder is there already; anything else in its place is an error."""
    try:
        status = located.path.lstat()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise explain(error, located) from error
    if stat.S_ISDIR(status.st_mode):
        return True
    raise ToolError(
        ErrorType.ALREADY_EXISTS,
        f"{located.shown} exists and is not a folder.",
        "Choose another name.",
        {"path": located.shown},
    )


def _make(located: Located) -> None:
    try:
        os.close(open_folder(located.path, create=True))
    except OSError as error:
        raise explain(error, located) from error
