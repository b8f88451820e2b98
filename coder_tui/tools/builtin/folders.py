"""The `mkdir` tool: a folder, with those on the way to it.

The `file_info` tool: what a path is, without its content.
"""

import asyncio
import os
import stat
from datetime import UTC, datetime

from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access, JsonObject, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.editing.change import declare_reading, locate_approved
from coder_tui.workspace.files.confine import Located, Workspace, explain, folder_or_file, open_folder
from coder_tui.workspace.files.text import Encoding, TextFile, load


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


class FileInfoParams(Params):
    path: str


class FileInfoTool(Tool[FileInfoParams]):
    name = "file_info"
    kind = ToolKind.READ
    display_name = "File info"
    params = FileInfoParams
    permission = "read"

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def summary(self, params: FileInfoParams) -> str:
        return params.path

    async def access(self, params: FileInfoParams, ctx: ToolContext) -> Access:
        return declare_reading(self._workspace.locate(params.path))

    async def run(self, params: FileInfoParams, ctx: ToolContext) -> ToolResult:
        located = locate_approved(self._workspace, params.path, ctx)
        status = folder_or_file(located)
        is_dir = stat.S_ISDIR(status.st_mode)
        fields: JsonObject = {
            "ok": True,
            "path": located.shown,
            "size_bytes": 0 if is_dir else status.st_size,
            "is_dir": is_dir,
            **({} if is_dir else await _text_fields(located)),
            "modified": datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds"),
        }
        size = "a folder" if is_dir else f"{status.st_size:,} bytes"
        shown = [f"{name}: {value}" for name, value in fields.items() if name not in {"ok", "path"}]
        return ToolResult(fields, TextBlock("\n".join(shown)), f"{located.shown}: {size}")


async def _text_fields(located: Located) -> JsonObject:
    """What only text has; nothing for binary files and for those too large to be gone through on the side."""
    try:
        file = await load(located)
    except ToolError as error:
        if error.type in {ErrorType.BINARY_FILE, ErrorType.TOO_LARGE}:
            return {}
        raise
    return await asyncio.to_thread(_survey, file)


def _survey(file: TextFile) -> JsonObject:
    feeds, pairs = file.text.count("\n"), file.text.count("\r\n")
    is_open = bool(file.text) and not file.text.endswith("\n")
    fields: JsonObject = {"lines": feeds + int(is_open), "encoding": _encoding(file)}
    if feeds:
        fields["newline"] = "lf" if not pairs else "crlf" if pairs == feeds else "mixed"
    return fields


def _encoding(file: TextFile) -> str:
    if file.shown != file.text:
        return "unknown-8bit" if file.encoding is Encoding.UTF_8 else str(file.encoding)
    return "utf-8-sig" if file.encoding is Encoding.UTF_8 and file.has_bom else str(file.encoding)
