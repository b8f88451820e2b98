"""Unpacks a body within a limit, tells its kind, decodes its text, and makes a page readable.

A few packed bytes may unpack to gigabytes. Decoding goes by the byte order mark, the declaration or the look
of the bytes and never fails; httpx and the standard library only know the declaration in the header. Pages
are read in a separate process that ends with the call.
"""

import asyncio
import codecs
import contextlib
import json
import re
import sys
import zlib
from collections.abc import Iterator
from enum import StrEnum

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
# Python has more codecs, but some of them are not character sets.
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
    # Bytes of another character set are rarely valid UTF-8 by chance; wrong declarations are common.
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
    # The declaration was readable as ASCII, so the page cannot be in wide characters.
    return "utf-8" if name.startswith(("utf-16", "utf-32")) else name


def _codec(name: str) -> str:
    """Return Python's name of a character set, or "" for an unknown one."""
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
        # A body that was cut off may end in half a character.
        is_at_end = error.end >= len(data) and len(data) - error.start < 4 and error.start > 0
        return data[: error.start].decode(name) if is_at_end else None


def _somehow(data: bytes, declared: str) -> str:
    """Decode with the fewest replacement characters: the declaration or a few bytes are wrong."""
    return min(
        (data.decode(name, "replace") for name in (declared, "utf-8", _FALLBACK)),
        key=lambda text: text.count("\ufffd"),
    )


def _looks_wide(data: bytes) -> str:
    """Return the UTF-16 variant if nearly every pair of bytes has a NUL, as Latin letters do, else ""."""
    even, odd = data[::2].count(0), data[1::2].count(0)
    if max(even, odd) <= len(data) * 0.4 or min(even, odd) > len(data) * 0.1:
        return ""
    return "utf-16-be" if even > odd else "utf-16-le"


def _guessed(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    # A few broken characters among many valid ones: it is UTF-8 with an error.
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
    """Return the kind that the server declares, or None if the declaration says nothing."""
    bare = bare_type(content_type)
    if bare in _UNKNOWN:
        return None
    if bare in _HTML:
        return Media.HTML
    if _TEXT.fullmatch(bare):
        return Media.TEXT
    return Media.IMAGE if bare.startswith("image/") else Media.BINARY


def media_of(content_type: str, data: bytes) -> Media:
    """Return the kind by declaration and first bytes; text with NULs is binary."""
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
    """Return an image's type by its first bytes, or ""."""
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
    # Latin letters in UTF-16 have a NUL next to each.
    return not (0.8 < 2 * max(head[::2].count(0), head[1::2].count(0)) / len(head) <= 1.0)


ACCEPTED = "gzip, deflate"
_ENCODINGS = {"": "", "identity": "", "gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate"}
_GZIP_BITS = 31
_ZLIB_BITS = 15
_RAW_BITS = -15
_ZLIB_METHOD = 8


class Unpacker:
    """Unpacks a body by its `Content-Encoding`, never more than the caller has room for.

    httpx could unpack it, but without a limit: one chunk of 64 kB may become 66 MB.
    """

    def __init__(self, encoding: str) -> None:
        """Raise `ToolError` for an encoding that was not asked for."""
        name = encoding.strip().lower()
        if name not in _ENCODINGS:
            message = f"The server compressed its answer as {name[:40]!r}; only {ACCEPTED} are supported."
            raise ToolError(ErrorType.NETWORK_ERROR, message)
        self._encoding = _ENCODINGS[name]
        self._inflate: zlib._Decompress | None = None
        self._is_over = False

    def feed(self, data: bytes, most: int) -> bytes:
        """Take the next packed bytes; return at most `most` unpacked ones, and drop the rest."""
        if not self._encoding:
            return data[:most]
        try:
            return b"".join(self._parts(data, most))
        except zlib.error as error:
            raise ToolError(ErrorType.NETWORK_ERROR, "The server's answer cannot be decompressed.") from error

    def _parts(self, data: bytes, most: int) -> Iterator[bytes]:
        while data and most > 0 and not self._is_over:
            if self._inflate is None:
                self._inflate = zlib.decompressobj(self._window_bits(data))
            part = self._inflate.decompress(data, most)
            most -= len(part)
            yield part
            data = self._inflate.unconsumed_tail
            if self._inflate.eof:
                # gzip may have several members, one after the other.
                data, self._inflate = self._inflate.unused_data, None
                self._is_over = self._encoding != "gzip"

    def _window_bits(self, data: bytes) -> int:
        """Tell gzip from both formats that servers call deflate."""
        if self._encoding == "gzip":
            return _GZIP_BITS
        is_wrapped = data[0] & 0x0F == _ZLIB_METHOD and data[0] >> 4 <= 7
        return _ZLIB_BITS if is_wrapped else _RAW_BITS


_SECONDS = 20.0


class PageFormat(StrEnum):
    MARKDOWN = "markdown"
    TEXT = "text"
    HTML = "html"


async def read_page(html: str, url: str, page_format: PageFormat) -> str:
    """Return the page as Markdown or plain text with absolute links, or the HTML unchanged."""
    if page_format is PageFormat.HTML:
        return html
    output_format = "plain" if page_format is PageFormat.TEXT else "markdown"
    # Lone surrogates cannot be encoded.
    clean = html.encode("utf-8", "replace").decode("utf-8")
    return await _ask(json.dumps({"html": clean, "url": url, "format": output_format}).encode())


async def _ask(request: bytes) -> str:
    # Isolated and without our environment: a page must not profit from a bug in its parser.
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", "coder_tui.web.page_program"),
        cwd="/",
        env={},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(_SECONDS):
            reply, _ = await process.communicate(request)
    except TimeoutError as error:
        raise _unreadable("the HTML parser took too long") from error
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    if process.returncode != 0:
        raise _unreadable("the HTML parser crashed")
    return str(json.loads(reply)["text"])


def _unreadable(reason: str) -> ToolError:
    message = f"The page could not be made readable: {reason}."
    return ToolError(ErrorType.EXECUTION_FAILED, message, 'Fetch it with format="html".')
