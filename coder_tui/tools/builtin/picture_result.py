"""A picture as the result of `read`."""

import asyncio
import base64

from coder_tui.protocol.display import ImageBlock
from coder_tui.protocol.errors import ToolError
from coder_tui.protocol.messages import Attachment
from coder_tui.tools.base import JsonObject, ToolResult
from coder_tui.workspace.confine import Located
from coder_tui.workspace.images import Picture
from coder_tui.workspace.picture_file import picture_data

ATTACHED = "The picture itself follows the results of this step."


async def picture_result(located: Located, picture: Picture) -> ToolResult:
    """The picture goes along beside the JSON."""
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
    return ToolResult(fields, block, block.words(), attachments=(attachment,))
