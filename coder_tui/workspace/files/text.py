"""Load text files without loss, so that bytes outside a change stay identical.

`ReadLedger` is what this session knows about each file's content, so that nothing unseen is overwritten.
"""

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
"""The largest file that is ever loaded as a whole."""
HEAD_SIZE = 64 * 1024
# Reading this little from an open file takes less time than starting a thread.
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
        """Return the error handler that keeps undecodable bytes as lone surrogates."""
        return "surrogateescape" if self is Encoding.UTF_8 else "surrogatepass"


_BOMS = {
    Encoding.UTF_8: codecs.BOM_UTF8,
    Encoding.UTF_16_LE: codecs.BOM_UTF16_LE,
    Encoding.UTF_16_BE: codecs.BOM_UTF16_BE,
}


@dataclass(frozen=True, slots=True)
class TextFile:
    """A decoded file. `text` keeps every newline as it is; `encode` returns the bytes."""

    text: str
    encoding: Encoding = Encoding.UTF_8
    has_bom: bool = False
    mode: int = 0o644
    digest: str = ""
    links: int = 1
    device_and_inode: tuple[int, int] | None = field(default=None, compare=False)
    """Identifies the file on disk; None if it was not loaded from one."""

    @property
    def evidence(self) -> str:
        """Return what an approval is tied to: this file with this content."""
        return f"{self.device_and_inode} {self.digest}"

    def is_same_file(self, status: os.stat_result) -> bool:
        return self.device_and_inode in {None, (status.st_dev, status.st_ino)}

    @property
    def newline(self) -> Newline:
        """Return the newline that most lines end in."""
        crlf = self.text.count("\r\n")
        return Newline.CRLF if crlf > self.text.count("\n") - crlf else Newline.LF

    @property
    def shown(self) -> str:
        """Return the text with one `\\ufffd` for each undecodable byte.

        It has the same length and is safe for JSON and screens.
        """
        return show(self.text)

    def encode(self, text: str) -> bytes:
        """Return `text` as bytes of this file, with its BOM."""
        bom = _BOMS[self.encoding] if self.has_bom else b""
        return bom + text.encode(self.encoding, self.encoding.errors)


def show(text: str) -> str:
    return _LOST.sub("\ufffd", text)


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def sniff(head: bytes) -> tuple[Encoding, bool]:
    """Return the encoding and whether there is a BOM, from a file's first bytes."""
    for encoding, bom in _BOMS.items():
        if head.startswith(bom) and not head.startswith(codecs.BOM_UTF32_LE):
            return encoding, True
    return Encoding.UTF_8, False


def binary_type(head: bytes) -> str | None:
    """Return the type of a binary file from its first bytes; None for text."""
    if sniff(head)[0] is not Encoding.UTF_8:
        return None
    has_nul = b"\0" in head
    for signature, name in _SIGNATURES:
        # A signature of letters may also begin a text.
        if head.startswith(signature) and (has_nul or not signature.isalnum()):
            return name
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WebP image"
    return "binary data" if has_nul else None


def decode(data: bytes, located: Located, *, mode: int = 0o644, links: int = 1) -> TextFile:
    """Decode a whole file, or refuse it as binary and name its type."""
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
        "Inspect it with a program, through bash.",
        {"path": located.shown, "file_type": kind},
    )


def check_size(size: int, located: Located) -> None:
    """Refuse a file that is too large to be loaded as a whole."""
    if size > WHOLE_LIMIT:
        raise ToolError(
            ErrorType.TOO_LARGE,
            f"{located.shown} has {size:,} bytes; up to {WHOLE_LIMIT:,} can be handled as a whole.",
            "Work on it with a command, through bash.",
        )


async def load(located: Located) -> TextFile:
    """Load a text file."""
    descriptor = open_regular(located)
    if os.fstat(descriptor).st_size <= _READ_AT_ONCE:
        return _load(descriptor, located)
    # One thread for everything: starting one takes longer than reading a usual file.
    reading = asyncio.ensure_future(asyncio.to_thread(_load, descriptor, located))
    # The thread owns the descriptor and closes it even if nobody waits any more.
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


def has_content(path: Path, text: str) -> bool:
    """Return whether a file has exactly this UTF-8 text; also False if checking would take too long."""
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
    """Load a text file; return None if it does not exist yet."""
    try:
        return await load(located)
    except ToolError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise


class FileLocks:
    """One lock per file, shared by everyone who may change it."""

    def __init__(self) -> None:
        self._locks: dict[Path, asyncio.Lock] = {}

    def for_path(self, path: Path) -> asyncio.Lock:
        return self._locks.setdefault(path, asyncio.Lock())


class ReadLedger:
    """Remembers a digest for each path as of its last read or own write.

    Agents that run at the same time have seen different contents, but share their locks.
    """

    def __init__(self, locks: FileLocks | None = None) -> None:
        self._digests: dict[Path, str] = {}
        self._locks = locks or FileLocks()

    def note(self, path: Path, digest: str) -> None:
        """Record that the session has seen or written exactly this content."""
        self._digests[path] = digest

    def note_change(self, path: Path, before: str | None, after: str) -> None:
        """Record a change by the session; a file that it had not fully seen stays unseen."""
        if before is None or self._digests.get(path) == before:
            self._digests[path] = after

    def has_changed(self, path: Path, digest: str) -> bool:
        """Return whether the file was last seen with other content than `digest`."""
        return self._digests.get(path, digest) != digest

    def check_overwrite(self, located: Located, digest: str) -> None:
        """Refuse to overwrite content that was never read or has changed since."""
        seen = self._digests.get(located.path)
        if seen == digest:
            return
        reason = "was not read in this session" if seen is None else "changed on disk since it was read"
        raise ToolError(
            ErrorType.STALE_FILE,
            f"{located.shown} exists and {reason}.",
            "Read it first, then write.",
            {"path": located.shown},
        )

    def lock(self, path: Path) -> asyncio.Lock:
        """Return the lock to hold while changing `path`."""
        return self._locks.for_path(path)
