"""The `mkdir` and `file_info` tools: create a folder; describe a path without its content."""

import asyncio
import os
import stat
from datetime import UTC, datetime

from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import (
    Access,
    JsonObject,
    PathParams,
    PathReadingTool,
    Tool,
    ToolContext,
    ToolResult,
    locate_approved,
)
from coder_tui.workspace.files.confine import Located, Workspace, explain, folder_or_file, open_folder
from coder_tui.workspace.files.text import Encoding, TextFile, load


class MkdirTool(Tool[PathParams]):
    name = "mkdir"
    kind = ToolKind.EDIT
    display_name = "Make folder"
    params = PathParams
    permission = "edit"

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def variables(self) -> dict[str, object]:
        return {"directory": self._workspace.root}

    def summary(self, params: PathParams) -> str:
        return params.path

    async def access(self, params: PathParams, ctx: ToolContext) -> Access:
        located = self._workspace.locate(params.path)
        self._workspace.check_write(located)
        if located.is_inside:
            # Nothing about a path outside the workspace is revealed before the decision.
            _is_folder(located)
        target = Target(TargetKind.PATH, str(located.path), writes=True)
        return Access((target,), preview=TextBlock(f"New folder: {located.shown}"))

    async def run(self, params: PathParams, ctx: ToolContext) -> ToolResult:
        located = locate_approved(self._workspace, params.path, ctx)
        self._workspace.check_write(located)
        created = not _is_folder(located)
        await asyncio.to_thread(_make, located)
        fields = {"ok": True, "path": located.shown, "created": created}
        words = f"{located.shown}/ was created" if created else f"{located.shown}/ already existed"
        return ToolResult(fields, TextBlock(words), words)


def _is_folder(located: Located) -> bool:
    """Return whether the folder already exists; raise if something else does."""
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


class FileInfoTool(PathReadingTool[PathParams]):
    name = "file_info"
    display_name = "File info"
    params = PathParams

    async def run(self, params: PathParams, ctx: ToolContext) -> ToolResult:
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
    """Return the fields that only text files have; none for binary or very large files."""
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
