"""What an editor sends as a prompt, as a message of ours: words, named files, text and pictures along.

What an editor holds of a file and has not saved is the person's: such a file is not changed below it.
"""

import asyncio
import base64
import binascii
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from acp import Client, RequestError
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

from coder_tui.protocol.access import TargetKind
from coder_tui.protocol.errors import ErrorType, ToolError, UsageError
from coder_tui.protocol.messages import Attachment
from coder_tui.text.mentions import mention
from coder_tui.tools.base import Access

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


log = logging.getLogger(__name__)
LARGEST = 5_000_000
SECONDS = 5.0
_MOST_FILES = 50


class EditorFiles:
    """For an editor that lets files be read through it: it gives the text of its buffer."""

    def __init__(self, client: Client, session_id: str) -> None:
        self._client = client
        self._session_id = session_id

    async def check(self, access: Access) -> None:
        """Raise when one of the files that the call writes has other text in the editor than on the disk."""
        changed = [
            Path(target.value)
            for target in access.targets
            if target.writes and target.kind is TargetKind.PATH
        ]
        for path in changed[:_MOST_FILES]:
            await self._check(path)

    async def _check(self, path: Path) -> None:
        saved = await asyncio.to_thread(_saved, path)
        held = await self._held(path) if saved is not None else None
        if held is not None and _plain(held) != saved:
            raise ToolError(
                ErrorType.STALE_FILE,
                f"{path.name} has changes in the editor that are not saved.",
                "ask the person to save or drop them, then read the file again.",
                {"path": str(path)},
            )

    async def _held(self, path: Path) -> str | None:
        """None where the editor cannot tell: then the disk is all there is."""
        reading = self._client.read_text_file(session_id=self._session_id, path=str(path))
        try:
            async with asyncio.timeout(SECONDS):
                return (await reading).content
        except (RequestError, TimeoutError) as error:
            log.info("the editor does not tell what it holds of %s: %r", path, error)
            return None


def _saved(path: Path) -> str | None:
    """The text on the disk; None where there is no such file, or no text."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return None
        return _plain(path.read_bytes().decode())
    except (OSError, UnicodeDecodeError):
        return None


def _plain(text: str) -> str:
    """Editors keep line ends and a byte order mark apart from the text."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
