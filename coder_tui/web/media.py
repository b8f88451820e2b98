"""What a body is: a page, text, an image, or something that no model can read."""

import re
from enum import StrEnum

_TEXT = re.compile(
    r"text/.*"
    r"|application/(.*\+)?(json|xml|yaml|toml)"
    r"|application/(x-)?(json5?|ld\+json|ndjson|jsonl|javascript|ecmascript|typescript|sh|httpd-php|yaml|toml|sql"
    r"|graphql|www-form-urlencoded|x-www-form-urlencoded|rtf|tex|latex|python|ruby|perl|pem-file|subrip)"
    r"|message/.*|image/svg\+xml|multipart/.*"
)
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_UNKNOWN = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/unknown", "*/*"})
_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"\0\0\1\0", "image/x-icon"),
)
_PAGE = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_HEAD = 1_024


class Media(StrEnum):
    HTML = "html"
    TEXT = "text"
    IMAGE = "image"
    BINARY = "binary"


def bare_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def declared_media(content_type: str) -> Media | None:
    """What the server calls it; None where that says nothing."""
    bare = bare_type(content_type)
    if bare in _UNKNOWN:
        return None
    if bare in _HTML:
        return Media.HTML
    if _TEXT.fullmatch(bare):
        return Media.TEXT
    return Media.IMAGE if bare.startswith("image/") else Media.BINARY


def media_of(content_type: str, data: bytes) -> Media:
    """Of the declaration and the first bytes; text that holds NULs is none."""
    declared = declared_media(content_type)
    if declared in (Media.BINARY, Media.IMAGE):
        return declared
    if sniffed_image(data):
        return Media.IMAGE
    if _has_stray_nul(data):
        return Media.BINARY
    if declared is None:
        return Media.HTML if _PAGE.match(data[:_HEAD]) else Media.TEXT
    return declared


def sniffed_image(data: bytes) -> str:
    """The type that an image's first bytes tell; empty for all else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    for signature, name in _IMAGES:
        if data.startswith(signature) and b"\0" in data[:_HEAD]:
            return name
    return ""


def _has_stray_nul(data: bytes) -> bool:
    head = data[:_HEAD]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" not in head:
        return False
    # Latin letters in UTF-16 have a NUL beside each.
    return not (0.8 < 2 * max(head[::2].count(0), head[1::2].count(0)) / len(head) <= 1.0)
