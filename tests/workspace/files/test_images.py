"""Pictures are identified by their first bytes."""

import struct

import pytest

from coder_tui.workspace.files.images import Picture, identify_picture

PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", 640, 480)
EXIF = b"\xff\xe1" + struct.pack(">H", 200) + b"x" * 198
JPEG = b"\xff\xd8" + EXIF + b"\xff\xc0" + struct.pack(">HBHH", 17, 8, 480, 640)
VP8X = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0" + b"\0\0\0\0" + b"\x7f\x02\0" + b"\xdf\x01\0"
VP8L = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + struct.pack("<I", 639 | 479 << 14)
VP8 = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0" + b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 640, 480)


@pytest.mark.parametrize(
    ("head", "media_type"),
    [
        (PNG, "image/png"),
        (b"GIF89a" + struct.pack("<HH", 640, 480), "image/gif"),
        (JPEG, "image/jpeg"),
        (VP8X, "image/webp"),
        (VP8L, "image/webp"),
        (VP8, "image/webp"),
    ],
)
def test_kind_and_size_are_read(head: bytes, media_type: str) -> None:
    assert identify_picture(head) == Picture(media_type, 640, 480)


@pytest.mark.parametrize("length", [12, 20])
def test_a_cut_head_tells_the_kind_only(length: int) -> None:
    assert identify_picture(PNG[:length]) == Picture("image/png")


@pytest.mark.parametrize("head", [b"", b"text", b"%PDF-1.7", b"BM", b"RIFF\0\0\0\0WAVE", b"\xff\xd8"])
def test_other_files_are_no_pictures(head: bytes) -> None:
    assert identify_picture(head) is None


def test_a_broken_picture_ends_the_search() -> None:
    assert identify_picture(b"\xff\xd8\xff\xe0\0\0" + b"\xff" * 100) is not None
