"""Identify pictures by their first bytes: kind and size, without decoding; read them from the workspace."""

import os
import struct
from dataclasses import dataclass

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.workspace.files.confine import Located, open_regular

HEAD = 64 * 1024
"""Bytes that contain a picture's size; cameras put much before it."""
_MARKERS_WITHOUT_SIZE = frozenset({0xC4, 0xC8, 0xCC})


@dataclass(frozen=True, slots=True)
class Picture:
    """`width` is 0 if the size is not in the first bytes."""

    media_type: str
    width: int = 0
    height: int = 0

    @property
    def size(self) -> str:
        return f"{self.width}×{self.height}" if self.width else ""


def identify_picture(head: bytes) -> Picture | None:
    """Return the picture that the bytes begin; None if models do not accept it."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return _sized("image/png", head[16:24], ">II")
    if head.startswith((b"GIF87a", b"GIF89a")):
        return _sized("image/gif", head[6:10], "<HH")
    if head.startswith(b"\xff\xd8\xff"):
        return _jpeg(head)
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return _webp(head)
    return None


def _sized(media_type: str, data: bytes, form: str) -> Picture:
    if len(data) < struct.calcsize(form):
        return Picture(media_type)
    width, height = struct.unpack(form, data)
    return Picture(media_type, width, height)


def _jpeg(head: bytes) -> Picture:
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in _MARKERS_WITHOUT_SIZE:
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return Picture("image/jpeg", width, height)
        at += 2 + int.from_bytes(head[at + 2 : at + 4], "big")
    return Picture("image/jpeg")


def _webp(head: bytes) -> Picture:
    form, data = head[12:16], head[20:30]
    if form == b"VP8X" and len(data) == 10:
        width, height = (int.from_bytes(data[at : at + 3], "little") + 1 for at in (4, 7))
        return Picture("image/webp", width, height)
    if form == b"VP8L" and len(data) >= 5:
        bits = int.from_bytes(data[1:5], "little")
        return Picture("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if form == b"VP8 " and len(data) == 10:
        width, height = struct.unpack("<HH", data[6:10])
        return Picture("image/webp", width & 0x3FFF, height & 0x3FFF)
    return Picture("image/webp")


MOST_BYTES = 5_000_000
"""What providers accept in one message, with some margin."""


def picture_at(located: Located) -> Picture | None:
    """Return the picture that a file contains; None if it is not one. Blocks."""
    return identify_picture(_first_bytes(located, HEAD))


def picture_data(located: Located) -> bytes:
    """Return the whole file unless it is too large. Blocks."""
    data = _first_bytes(located, MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ToolError(
            ErrorType.TOO_LARGE, f"it is larger than {MOST_BYTES // 1_000_000} MB.", "Scale it down first."
        )
    return data


def _first_bytes(located: Located, most: int) -> bytes:
    with os.fdopen(open_regular(located), "rb") as file:
        return file.read(most)
