"""What an editor sends as a prompt, as a message of ours: words, named files, text and pictures along."""

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from acp.helpers import ContentBlock
from acp.schema import (
    AudioContentBlock,
    BlobResourceContents,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from coder_tui.protocol.errors import UsageError
from coder_tui.protocol.messages import Attachment
from coder_tui.text.mentions import mention

LONGEST = 200_000
"""Characters of a text that goes along: the unsaved file of an editor, say."""
LARGEST_PICTURE = 20_000_000
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


@dataclass(frozen=True, slots=True)
class Prompt:
    text: str
    attachments: tuple[Attachment, ...]


def read_prompt(blocks: Iterable[ContentBlock], directory: Path) -> Prompt:
    """`UsageError` for what no model of ours could be shown."""
    words: list[str] = []
    along: list[Attachment] = []
    for block in blocks:
        match block:
            case TextContentBlock():
                words.append(block.text)
            case ResourceContentBlock():
                words.append(_named(block.uri, directory))
            case EmbeddedResourceContentBlock():
                attachment = _resource(block.resource, directory)
                words.append(f"[{attachment.label}]")
                along.append(attachment)
            case ImageContentBlock():
                along.append(_picture(block, len(along) + 1))
            case AudioContentBlock():
                raise UsageError("sound cannot be sent to a model here; send text or a picture")
    text = "".join(words).strip()
    if not text and not along:
        raise UsageError("the prompt is empty")
    return Prompt(text or "Look at what is attached.", tuple(along))


def _named(uri: str, directory: Path) -> str:
    """A file is named as a person names one, and read by the same rules; another address stays one."""
    path = _path(uri, directory)
    return uri if path is None else f" {mention(path)} "


def _path(uri: str, directory: Path) -> str | None:
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return None
    path = Path(unquote(parts.path))
    return str(path.relative_to(directory)) if path.is_relative_to(directory) else str(path)


def _resource(resource: TextResourceContents | BlobResourceContents, directory: Path) -> Attachment:
    label = _path(resource.uri, directory) or resource.uri
    match resource:
        case TextResourceContents(text=text):
            cut = "" if len(text) <= LONGEST else f"\n(cut here; {len(text) - LONGEST:,} characters more)"
            return Attachment(label, text[:LONGEST] + cut)
        case BlobResourceContents():
            return Attachment(label, f"({resource.mime_type or 'binary'}, not shown)")


def _picture(block: ImageContentBlock, number: int) -> Attachment:
    if block.mime_type not in PICTURES:
        raise UsageError(f"pictures of type {block.mime_type} cannot be sent; send PNG, JPEG, GIF or WebP")
    try:
        size = len(base64.b64decode(block.data, validate=True))
    except binascii.Error as error:
        raise UsageError("a picture's data is no base64") from error
    if size > LARGEST_PICTURE:
        raise UsageError(f"a picture has {size:,} bytes; {LARGEST_PICTURE:,} is the most")
    return Attachment(f"picture {number}", block.mime_type, block.mime_type, block.data)
