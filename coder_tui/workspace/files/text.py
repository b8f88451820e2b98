"""Text files as they are: decoded without loss, so that bytes outside a change stay identical."""

import asyncio
import codecs
import hashlib
import os
import re
import stat
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.workspace.files.confine import FILE_FLAGS, Located, explain, open_regular

WHOLE_LIMIT = 50 * 1024 * 1024
"""The largest file that is ever held in memory as a whole."""
HEAD_SIZE = 64 * 1024
# Once a file is open, reading so little of it takes less than the way to a thread and back.
_READ_AT_ONCE = 32 * 1024

_LOST = re.compile("[\ud800-\udfff]")
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"\x1f\x8b", "gzip archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ\0", "xz archive"),
    (b"\x28\xb5\x2f\xfd", "zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (b"\x7fELF", "ELF program"),
    (b"MZ", "Windows program"),
    (b"\xcf\xfa\xed\xfe", "Mach-O program"),
    (b"\0asm", "WebAssembly module"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"OggS", "Ogg media"),
    (b"ID3", "MP3 audio"),
    (b"wOF2", "font"),
    (b"\0\0\1\0", "icon image"),
)


class Newline(StrEnum):
    LF = "\n"
    CRLF = "\r\n"


class Encoding(StrEnum):
    UTF_8 = "utf-8"
    UTF_16_LE = "utf-16-le"
    UTF_16_BE = "utf-16-be"

    @property
    def errors(self) -> str:
        """How bytes that are not text in this encoding survive as lone surrogates."""
        return "surrogateescape" if self is Encoding.UTF_8 else "surrogatepass"


_BOMS = {
    Encoding.UTF_8: codecs.BOM_UTF8,
    Encoding.UTF_16_LE: codecs.BOM_UTF16_LE,
    Encoding.UTF_16_BE: codecs.BOM_UTF16_BE,
}


@dataclass(frozen=True, slots=True)
class TextFile:
    """A decoded file. `text` keeps every newline as it is; `encode` gives the bytes back."""

    text: str
    encoding: Encoding = Encoding.UTF_8
    has_bom: bool = False
    mode: int = 0o644
    digest: str = ""
    links: int = 1
    device_and_inode: tuple[int, int] | None = field(default=None, compare=False)
    """Which file of the system it is; None where it was not loaded from one."""

    @property
    def evidence(self) -> str:
        """What an approval binds to: this very file with this content."""
        return f"{self.device_and_inode} {self.digest}"

    def is_same_file(self, status: os.stat_result) -> bool:
        return self.device_and_inode in {None, (status.st_dev, status.st_ino)}

    @property
    def newline(self) -> Newline:
        """The newline that most lines end in."""
        crlf = self.text.count("\r\n")
        return Newline.CRLF if crlf > self.text.count("\n") - crlf else Newline.LF

    @property
    def shown(self) -> str:
        """The text with one `\\ufffd` for each undecodable byte: same length, fit for JSON and screens."""
        return show(self.text)

    def encode(self, text: str) -> bytes:
        """Return `text` as bytes of this file, its BOM included."""
        bom = _BOMS[self.encoding] if self.has_bom else b""
        return bom + text.encode(self.encoding, self.encoding.errors)


def show(text: str) -> str:
    return _LOST.sub("\ufffd", text)


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def sniff(head: bytes) -> tuple[Encoding, bool]:
    """Tell the encoding, and whether a BOM says so, from a file's first bytes."""
    for encoding, bom in _BOMS.items():
        if head.startswith(bom) and not head.startswith(codecs.BOM_UTF32_LE):
            return encoding, True
    return Encoding.UTF_8, False


def binary_type(head: bytes) -> str | None:
    """Name the type of a binary file from its first bytes; None for text."""
    if sniff(head)[0] is not Encoding.UTF_8:
        return None
    has_nul = b"\0" in head
    for signature, name in _SIGNATURES:
        # A signature of letters alone may be how a text begins.
        if head.startswith(signature) and (has_nul or not signature.isalnum()):
            return name
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WebP image"
    return "binary data" if has_nul else None


def decode(data: bytes, located: Located, *, mode: int = 0o644, links: int = 1) -> TextFile:
    """Decode a whole file, or refuse it as binary with its type named."""
    encoding, has_bom = sniff(data[:4])
    kind = binary_type(data[:HEAD_SIZE]) or ("binary data" if _is_broken(data, encoding) else None)
    if kind is not None:
        raise binary_file(located, kind)
    body = data[len(_BOMS[encoding]) :] if has_bom else data
    text = body.decode(encoding, encoding.errors)
    return TextFile(text, encoding, has_bom, mode, digest_of(data), links)


def _is_broken(data: bytes, encoding: Encoding) -> bool:
    return len(data) % 2 == 1 if encoding is not Encoding.UTF_8 else b"\0" in data


def binary_file(located: Located, kind: str) -> ToolError:
    return ToolError(
        ErrorType.BINARY_FILE,
        f"{located.shown} is not text: {kind}.",
        "Look at it with a program, through bash.",
        {"path": located.shown, "file_type": kind},
    )


def check_size(size: int, located: Located) -> None:
    """Refuse what must be held as a whole but is too large for that."""
    if size > WHOLE_LIMIT:
        raise ToolError(
            ErrorType.TOO_LARGE,
            f"{located.shown} has {size:,} bytes; up to {WHOLE_LIMIT:,} can be handled as a whole.",
            "Work on it with a command, through bash.",
        )


async def load(located: Located) -> TextFile:
    """Read a text file whole."""
    descriptor = open_regular(located)
    if os.fstat(descriptor).st_size <= _READ_AT_ONCE:
        return _load(descriptor, located)
    # One way to a thread for all of it: each takes longer than reading a usual file.
    reading = asyncio.ensure_future(asyncio.to_thread(_load, descriptor, located))
    # The thread owns the descriptor, and closes it though nobody waits any more.
    return await asyncio.shield(reading)


def _load(descriptor: int, located: Located) -> TextFile:
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        check_size(status.st_size, located)
        try:
            data = file.read(status.st_size + 1)
            if len(data) > status.st_size:  # it is growing: bounded once more
                data += file.read(WHOLE_LIMIT + 1 - len(data))
        except OSError as error:
            raise explain(error, located) from error
    check_size(len(data), located)
    loaded = decode(data, located, mode=stat.S_IMODE(status.st_mode), links=status.st_nlink)
    return replace(loaded, device_and_inode=(status.st_dev, status.st_ino))


def holds(path: Path, text: str) -> bool:
    """Whether exactly this lies there, in UTF-8; False, too, for what takes longer than a moment to tell."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > _READ_AT_ONCE or b"\0" in data or data.startswith(codecs.BOM_UTF8):
        return False
    try:
        descriptor = os.open(path, FILE_FLAGS)
    except OSError:
        return False
    try:
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return is_file and os.read(descriptor, len(data) + 1) == data
    except OSError:
        return False
    finally:
        os.close(descriptor)


async def load_if_there(located: Located) -> TextFile | None:
    """Read a text file whole, or say None where nothing is yet."""
    try:
        return await load(located)
    except ToolError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise
