"""Turn a server's answer into what a model can read: text, Markdown, or an image."""

import base64
from dataclasses import dataclass, replace

from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.protocol.messages import Attachment
from coder_tui.tools.base import JsonObject, ToolResult
from coder_tui.tools.builtin.fetch_request import KB, FetchParams
from coder_tui.tools.builtin.read import ATTACHED
from coder_tui.web.body import (
    Media,
    PageFormat,
    bare_type,
    declared_media,
    decode_body,
    media_of,
    read_page,
    sniffed_image,
)
from coder_tui.web.fetch import Fetched
from coder_tui.workspace.files.images import HEAD, identify_picture

MOST_TEXT = 100 * KB
MOST_IMAGE = 1_000 * KB
MOST_PAGE = 2_000 * KB
"""Bytes of a page's source, most of which is not text."""
_ENOUGH_TO_NAME = 4 * KB
_MOST_SHOWN = 20_000
_FAILING = 400
_UNAUTHORIZED = 401


def bytes_to_take(content_type: str, params: FetchParams) -> int:
    match declared_media(content_type):
        case Media.HTML if params.format is not PageFormat.HTML:
            return MOST_PAGE
        case Media.HTML | Media.TEXT:
            return params.at_most(MOST_TEXT)
        case Media.IMAGE:
            return params.at_most(MOST_IMAGE)
        case Media.BINARY:
            return _ENOUGH_TO_NAME
        case None:
            return MOST_IMAGE


@dataclass(frozen=True, slots=True)
class _Content:
    """The readable part of an answer."""

    text: str
    is_image: bool = False
    is_cut: bool = False


async def answer(fetched: Fetched, params: FetchParams, *, sees_images: bool) -> ToolResult:
    """Return the result for the model and the user."""
    content = await _content(fetched, params)
    result = _result(fetched, content, params)
    picture = identify_picture(fetched.body.data[:HEAD]) if content.is_image and sees_images else None
    if picture is None:
        return result
    # A model that sees images has no use for the base64 text, which would fill its context window.
    words = f"{picture.media_type} {picture.size}".rstrip()
    shown = Attachment(fetched.address.url, words, picture.media_type, content.text)
    return replace(result.with_fields({"content": ATTACHED}), attachments=(shown,))


async def _content(fetched: Fetched, params: FetchParams) -> _Content:
    data = fetched.body.data
    if not data:
        return _Content("", is_cut=fetched.body.is_cut)
    match media_of(fetched.content_type, data):
        case Media.IMAGE:
            return _image(fetched, params)
        case Media.BINARY:
            if fetched.status >= _FAILING:
                return _Content("")
            raise _binary(fetched)
        case Media.HTML:
            html = decode_body(data, fetched.content_type)
            text = await read_page(html, fetched.address.url, params.format)
        case Media.TEXT:
            text = decode_body(data, fetched.content_type)
    shown = _cut(text, params.at_most(MOST_TEXT))
    return _Content(shown, is_cut=fetched.body.is_cut or shown != text)


def _image(fetched: Fetched, params: FetchParams) -> _Content:
    most = params.at_most(MOST_IMAGE)
    if fetched.body.is_cut or len(fetched.body.data) > most:
        raise ToolError(
            ErrorType.TOO_LARGE,
            f"The image is larger than {most:,} bytes.",
            fields=_fields(fetched),
        )
    return _Content(base64.b64encode(fetched.body.data).decode("ascii"), is_image=True)


def _binary(fetched: Fetched) -> ToolError:
    kind = bare_type(fetched.content_type) or "binary data"
    message = f"{fetched.address.url} is not text: {kind}."
    return ToolError(ErrorType.BINARY_FILE, message, "Download it with bash.", _fields(fetched))


def _cut(text: str, most: int) -> str:
    """Cut text to `most` bytes, never inside a character.

    Undecodable text is replaced, so nothing fails here.
    """
    data = text.encode("utf-8", "replace")
    return text if len(data) <= most else data[:most].decode("utf-8", "ignore")


def _fields(fetched: Fetched) -> JsonObject:
    size = len(fetched.body.data)
    if fetched.body.declared is not None and (fetched.body.is_cut or not size):
        size = fetched.body.declared
    sniffed = sniffed_image(fetched.body.data)
    return {
        "url": fetched.address.url,
        "status_code": fetched.status,
        "content_type": fetched.content_type or sniffed,
        "size_bytes": size,
    }


def _result(fetched: Fetched, content: _Content, params: FetchParams) -> ToolResult:
    fields: JsonObject = {
        "ok": fetched.status < _FAILING,
        **_fields(fetched),
        "is_image": content.is_image,
        "content": content.text,
        "truncated": content.is_cut,
    }
    if not fields["ok"]:
        fields["error"] = _error(fetched, params)
    size = f"{fields['size_bytes']:,} bytes"
    summary = f"{params.method} {fetched.address.url} → {fetched.status}, {size}"
    return ToolResult(fields, TextBlock(_shown(fetched, content, size)), summary=summary)


def _shown(fetched: Fetched, content: _Content, size: str) -> str:
    lines = [f"{fetched.status} {fetched.reason}".strip()]
    if fetched.is_unverified:
        lines.append("! TLS was not verified, because fetch.insecure_hosts names this host")
    if content.is_image:
        lines.append(f"{bare_type(fetched.content_type)} image, {size}")
    else:
        is_long = len(content.text) > _MOST_SHOWN
        lines.append(content.text[:_MOST_SHOWN] + ("\n…" if is_long or content.is_cut else ""))
    return "\n".join(lines)


def _error(fetched: Fetched, params: FetchParams) -> JsonObject:
    said = f"{fetched.status} {fetched.reason}".strip()
    error = {"type": ErrorType.NETWORK_ERROR.value, "message": f"The server answered {said}."}
    if fetched.status == _UNAUTHORIZED and params.auth is None:
        error["hint"] = "It asks for credentials: set `auth`."
    return error
