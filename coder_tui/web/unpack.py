"""Unpacks a compressed body, never more of it than is wanted: few bytes may unpack to gigabytes."""

import zlib
from typing import Protocol

from coder_tui.protocol.errors import ErrorType, ToolError

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
