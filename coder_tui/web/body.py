"""Decodes a body: by its mark, its declaration, or what its bytes look like; nothing makes it fail.

What a body is: a page, text, an image, or something that no model can read.

Unpacks a compressed body, never more of it than is wanted: few bytes may unpack to gigabytes.
"""

import codecs
import re
import zlib
from enum import StrEnum
from typing import Protocol

from coder_tui.protocol.errors import ErrorType, ToolError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_PARAMETER = re.compile(r"charset\s*=\s*[\"']?([\w.:+-]+)", re.IGNORECASE)
_META = re.compile(
    rb"<(?:meta|\?xml)\b[^>]{0,200}?(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:+-]+)", re.IGNORECASE
)
_META_BYTES = 4_096
# Python knows more codecs, but some of them are no character sets.
_KNOWN = re.compile(
    r"utf-(8|16|16-le|16-be|32|32-le|32-be)|ascii|iso8859-\d+|cp(125\d|437|65001|8\d\d|932|936|949|950)|koi8-[rut]"
    r"|mac-\w+|gb2312|gbk|gb18030|hz|big5(hkscs)?|shift_jis\w*|euc_\w+|iso2022_\w+|johab|tis-620"
)
_FALLBACK = "cp1252"
# As browsers read them.
_WIDENED = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-9": "cp1254",
}


def decode_body(data: bytes, content_type: str) -> str:
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace")
    declared = _declared(content_type) or _in_page(data)
    if wide := _looks_wide(data):
        return data.decode(wide, "replace")
    text = _strictly(data, "utf-8")
    # Bytes of another set that happen to be valid UTF-8 are rare; wrong declarations are not.
    if text is not None and (declared in ("", "utf-8") or _is_single_byte(declared)):
        return text
    if declared:
        text = _strictly(data, declared)
        return text if text is not None else _somehow(data, declared)
    return _guessed(data)


def _declared(content_type: str) -> str:
    found = _PARAMETER.search(content_type)
    return _codec(found[1]) if found else ""


def _in_page(data: bytes) -> str:
    found = _META.search(data[:_META_BYTES])
    name = _codec(found[1].decode("ascii", "replace")) if found else ""
    # The declaration could be read, so the page is not in wide characters whatever it says.
    return "utf-8" if name.startswith(("utf-16", "utf-32")) else name


def _codec(name: str) -> str:
    """Our name of a character set; empty for an unknown one."""
    try:
        known = codecs.lookup(name).name
    except (LookupError, ValueError):
        return ""
    return _WIDENED.get(known, known) if _KNOWN.fullmatch(known) else ""


def _is_single_byte(name: str) -> bool:
    return name.startswith(("cp125", "iso8859", "koi8", "mac", "tis", "cp4", "cp8"))


def _strictly(data: bytes, name: str) -> str | None:
    try:
        return data.decode(name)
    except UnicodeDecodeError as error:
        # A body that was cut may end in half a character.
        is_at_end = error.end >= len(data) and len(data) - error.start < 4 and error.start > 0
        return data[: error.start].decode(name) if is_at_end else None


def _somehow(data: bytes, declared: str) -> str:
    """The declaration is wrong, or a few bytes are: whichever loses less."""
    return min(
        (data.decode(name, "replace") for name in (declared, "utf-8", _FALLBACK)),
        key=lambda text: text.count("\ufffd"),
    )


def _looks_wide(data: bytes) -> str:
    """Latin letters of two bytes each have a NUL in every pair."""
    even, odd = data[::2].count(0), data[1::2].count(0)
    if max(even, odd) <= len(data) * 0.4 or min(even, odd) > len(data) * 0.1:
        return ""
    return "utf-16-be" if even > odd else "utf-16-le"


def _guessed(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    # A few broken characters in much that is right: it is UTF-8 with a fault.
    broken, other = text.count("\ufffd"), sum(char > "\x7f" for char in text)
    return text if other > 4 * broken else data.decode(_FALLBACK, "replace")


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


ACCEPTED = "gzip, deflate"
_GZIP_BITS = 31
_ZLIB_BITS = 15
_RAW_BITS = -15
_ZLIB_METHOD = 8


class Unpacker(Protocol):
    def feed(self, data: bytes, most: int) -> bytes:
        """Take the next packed bytes; give at most `most` unpacked ones, and forget the rest."""


class Plain:
    def feed(self, data: bytes, most: int) -> bytes:
        return data[:most]


class Inflater:
    """gzip, of one member or several, and both things that servers call deflate."""

    def __init__(self, *, is_gzip: bool) -> None:
        self._is_gzip = is_gzip
        self._inflate = zlib.decompressobj(_GZIP_BITS) if is_gzip else None
        self._is_over = False

    def feed(self, data: bytes, most: int) -> bytes:
        parts: list[bytes] = []
        while data and most > 0 and not self._is_over:
            part = self._started(data).decompress(data, most)
            parts.append(part)
            most -= len(part)
            data = self._rest()
        return b"".join(parts)

    def _started(self, data: bytes) -> "zlib._Decompress":
        if self._inflate is None:
            is_wrapped = data[0] & 0x0F == _ZLIB_METHOD and data[0] >> 4 <= 7
            self._inflate = zlib.decompressobj(_ZLIB_BITS if is_wrapped else _RAW_BITS)
        return self._inflate

    def _rest(self) -> bytes:
        """What follows: more of this member, or another one."""
        inflate = self._inflate
        if inflate is None or not inflate.eof:
            return inflate.unconsumed_tail if inflate else b""
        rest = inflate.unused_data
        self._is_over = not self._is_gzip
        self._inflate = zlib.decompressobj(_GZIP_BITS)
        return rest


def unpacker_for(encoding: str) -> Unpacker:
    """For a `Content-Encoding`; `ToolError` for one that was not asked for."""
    match encoding.strip().lower():
        case "" | "identity":
            return Plain()
        case "gzip" | "x-gzip":
            return Inflater(is_gzip=True)
        case "deflate":
            return Inflater(is_gzip=False)
        case other:
            shown = other[:40]
            message = f"The server packed its answer as {shown!r}, though only {ACCEPTED} were asked for."
            raise ToolError(ErrorType.NETWORK_ERROR, message)


def unpack(unpacker: Unpacker, data: bytes, most: int) -> bytes:
    """`feed` with a typed error for packed bytes that are broken."""
    try:
        return unpacker.feed(data, most)
    except zlib.error as error:
        raise ToolError(ErrorType.NETWORK_ERROR, "The server's answer is packed wrongly.") from error
