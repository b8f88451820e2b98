"""The `write` and `create_file` tools: a file's whole content.

Lines that stay keep their bytes, new ones take the file's style.
"""

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import JsonObject, PathParams
from coder_tui.tools.editing.change import FileChange, FileEditTool
from coder_tui.tools.editing.script import rewritten
from coder_tui.workspace.files.confine import Located, explain
from coder_tui.workspace.files.text import load_if_there


class WriteParams(PathParams):
    content: str


class CreateFileParams(PathParams):
    content: str = ""


class WriteTool(FileEditTool[WriteParams, FileChange]):
    """Creates a file, or overwrites one that was read and has not changed since."""

    name = "write"
    display_name = "Write"
    params = WriteParams
    editable = "content"

    async def propose(self, params: WriteParams, located: Located) -> FileChange:
        before = await load_if_there(located)
        if before is None:
            return FileChange(located, None, params.content)
        self._ledger.check_overwrite(located, before.digest)
        return FileChange(located, before, rewritten(before, params.content))

    def report(self, change: FileChange) -> JsonObject:
        return _written(change)


class CreateFileTool(FileEditTool[CreateFileParams, FileChange]):
    name = "create_file"
    display_name = "Create file"
    params = CreateFileParams
    editable = "content"

    async def propose(self, params: CreateFileParams, located: Located) -> FileChange:
        _check_free(located)
        return FileChange(located, None, params.content)

    async def write(self, change: FileChange) -> None:
        try:
            await super().write(change)
        except ToolError as error:
            raise _exists(change.located) if error.type is ErrorType.STALE_FILE else error from error

    def report(self, change: FileChange) -> JsonObject:
        return _written(change)


def _written(change: FileChange) -> JsonObject:
    return {"operation": "create" if change.before is None else "overwrite", "size": len(change.data)}


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
        f"{located.shown} already exists.",
        "Read it, then use edit or write; or choose another name.",
        {"path": located.shown},
    )
