"""The `write` tool: a file's whole content.

The `create_file` tool: a file that was not there, and never over one that was.

Turns a file's whole new content into its text: lines that stay keep their bytes, the rest its style.
"""

from coder_tui.diffs.compare import matching_runs
from coder_tui.diffs.model import split_lines
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.editing.change import (
    FileChange,
    change_summary,
    check_text,
    declare,
    declare_failing,
    diff_block,
    diff_fields,
    locate_approved,
)
from coder_tui.tools.editing.script import to_line_feeds
from coder_tui.workspace.files.confine import Located, Workspace, explain
from coder_tui.workspace.files.ledger import ReadLedger
from coder_tui.workspace.files.text import TextFile, load_if_there, show


def rewritten(before: TextFile, content: str) -> str:
    """Return `content` with the newlines, undecodable bytes and final-newline state of the file."""
    old = split_lines(before.text)
    new = split_lines(_with_same_end(before.text, to_line_feeds(content)))
    result = [line.replace("\n", before.newline) for line in new]
    for run in matching_runs([to_line_feeds(show(line)) for line in old], new):
        result[run.new : run.new + run.length] = old[run.old : run.old + run.length]
    return "".join(result)


def _with_same_end(before: str, content: str) -> str:
    if not before or not content:
        return content
    if before.endswith("\n"):
        return content if content.endswith("\n") else f"{content}\n"
    return content.removesuffix("\n")


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
