"""The `read` tool: a page of a text file, a folder's listing, or a picture."""

import asyncio
import base64
import stat

from coder_tui.protocol.display import ImageBlock, TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.protocol.messages import Attachment
from coder_tui.tools.base import (
    JsonObject,
    PathParams,
    PathReadingTool,
    ToolContext,
    ToolResult,
    locate_approved,
)
from coder_tui.tools.builtin.list import folder_result
from coder_tui.workspace.files.confine import Located, Workspace, folder_or_file
from coder_tui.workspace.files.images import Picture, picture_at, picture_data
from coder_tui.workspace.files.paging import Page, read_page
from coder_tui.workspace.files.text import ReadLedger

ATTACHED = "The picture follows the results of this step."


async def picture_result(located: Located, picture: Picture) -> ToolResult:
    """Return the picture as an attachment to the JSON."""
    try:
        data = await asyncio.to_thread(picture_data, located)
    except ToolError as error:
        raise ToolError(error.type, f"{located.shown}: {error.message}", error.hint) from error
    block = ImageBlock(located.shown, picture.media_type, picture.width, picture.height, len(data))
    fields: JsonObject = {
        "ok": True,
        "path": located.shown,
        "content": ATTACHED,
        "media_type": picture.media_type,
        "size_bytes": len(data),
    }
    if picture.width:
        fields |= {"width": picture.width, "height": picture.height}
    words = f"{picture.media_type} {picture.size}".rstrip()
    attachment = Attachment(located.shown, words, picture.media_type, base64.b64encode(data).decode())
    return ToolResult(fields, block, block.describe(), attachments=(attachment,))


DEFAULT_LIMIT = 50
MOST_LINES = 200
BLIND = "This model cannot see pictures: inspect it with a program, through bash."


def page_length(limit: int | None) -> int:
    if limit is None or limit <= 0:
        return DEFAULT_LIMIT
    return min(limit, MOST_LINES)


class ReadParams(PathParams):
    offset: int | None = None
    limit: int | None = None

    @property
    def first(self) -> int:
        return self.offset or 1


class ReadTool(PathReadingTool[ReadParams]):
    """Remembers what was read, so that `write` never overwrites unseen content."""

    name = "read"
    display_name = "Read"
    params = ReadParams

    def __init__(self, workspace: Workspace, ledger: ReadLedger) -> None:
        super().__init__(workspace)
        self._ledger = ledger

    def variables(self) -> dict[str, object]:
        return super().variables() | {"default_limit": DEFAULT_LIMIT, "max_lines": MOST_LINES}

    def summary(self, params: ReadParams) -> str:
        return params.path if params.offset in {None, 0} else f"{params.path} from line {params.offset}"

    async def run(self, params: ReadParams, ctx: ToolContext) -> ToolResult:
        located = locate_approved(self._workspace, params.path, ctx)
        if stat.S_ISDIR(folder_or_file(located).st_mode):
            return await folder_result(located)
        try:
            page = await read_page(located, params.first, page_length(params.limit))
        except ToolError as error:
            if error.type is not ErrorType.BINARY_FILE:
                raise
            picture = await asyncio.to_thread(picture_at, located)
            if picture is None:
                raise
            if not ctx.sees_images:
                raise ToolError(error.type, error.message, BLIND, error.fields) from error
            return await picture_result(located, picture)
        if page.digest is not None:
            self._ledger.note(located.path, page.digest)
        return _result(located, page)


def _result(located: Located, page: Page) -> ToolResult:
    content = "\n".join(page.lines)
    fields: JsonObject = {
        "ok": True,
        "path": located.shown,
        "content": content,
        "start_line": page.start,
        "end_line": page.end,
        "has_more": page.has_more,
    }
    if page.total is not None:
        fields["total_lines"] = page.total
    return ToolResult(fields, TextBlock(content), _summary(located, page))


def _summary(located: Located, page: Page) -> str:
    if not page.lines:
        return f"{located.shown}: no lines here"
    total = "" if page.total is None else f" of {page.total}"
    return f"{located.shown} {page.start}-{page.end}{total}"
