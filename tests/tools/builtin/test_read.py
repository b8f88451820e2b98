"""`read` follows its contract exactly."""

import base64
import os
import socket
import struct
from pathlib import Path

import pytest

from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.display import ImageBlock, TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.protocol.messages import Attachment
from tests.tools.calling import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "ws")


def numbered(first: int, last: int) -> str:
    return "\n".join(f"line {number}" for number in range(first, last + 1))


@pytest.mark.parametrize(
    ("offset", "limit", "start", "end", "has_more"),
    [
        (None, None, 1, 50, True),
        (0, 0, 1, 50, True),
        (1, -3, 1, 50, True),
        (1, 200, 1, 200, True),
        (1, 201, 1, 200, True),
        (1, 100_000, 1, 200, True),
        (251, None, 251, 300, False),
        (251, 49, 251, 299, True),
        (300, 10, 300, 300, False),
        (-1, None, 300, 300, False),
        (-50, None, 251, 300, False),
        (-60, None, 241, 290, True),
        (-60, 200, 241, 300, False),
        (-300, 1, 1, 1, True),
        (-100_000, 5, 1, 5, True),
    ],
)
async def test_offset_and_limit_choose_the_lines(
    bench: Bench, offset: int | None, limit: int | None, start: int, end: int, has_more: bool
) -> None:
    bench.put("a.txt", numbered(1, 300) + "\n")

    assert await bench.call("read", path="a.txt", offset=offset, limit=limit) == {
        "ok": True,
        "path": "a.txt",
        "content": numbered(start, end),
        "start_line": start,
        "end_line": end,
        "has_more": has_more,
        "total_lines": 300,
    }


@pytest.mark.parametrize(
    ("content", "total", "offset"), [("a\nb\n", 2, 3), ("a\nb", 2, 99), ("", 0, 1), ("", 0, -5)]
)
async def test_past_the_end_is_an_empty_page(bench: Bench, content: str, total: int, offset: int) -> None:
    bench.put("a.txt", content)

    assert await bench.call("read", path="a.txt", offset=offset) == {
        "ok": True,
        "path": "a.txt",
        "content": "",
        "start_line": 0,
        "end_line": 0,
        "has_more": False,
        "total_lines": total,
    }


@pytest.mark.parametrize(
    ("data", "content"),
    [
        (b"a\nb", "a\nb"),
        (b"a\nb\n\n", "a\nb\n"),
        (b"a\r\nb\r\n", "a\nb"),
        (b"\xef\xbb\xbfa\n", "a"),
        ("é\nb\n".encode("utf-16"), "é\nb"),
        (b"\xfe\xff" + "é\n".encode("utf-16-be"), "é"),
        (b"ok \xff\xe9 \xc3\xa9\n", "ok \ufffd\ufffd é"),
        ("a\x0cb\u2028c\n".encode(), "a\x0cb\u2028c"),
    ],
)
async def test_any_encoding_is_read_as_text(bench: Bench, data: bytes, content: str) -> None:
    bench.put("a.txt", data)

    assert (await bench.call("read", path="a.txt"))["content"] == content


async def test_a_long_line_is_cut(bench: Bench) -> None:
    bench.put("a.txt", "é" * 3_000_000 + "\nshort\n")

    result = await bench.call("read", path="a.txt")

    assert result["content"] == "é" * 2_000 + " […]\nshort"


async def test_a_page_of_long_lines_ends_early_and_can_be_gone_on_with(bench: Bench) -> None:
    bench.put("a.txt", ("x" * 1_500 + "\n") * 100)

    result = await bench.call("read", path="a.txt", limit=100)

    assert (result["start_line"], result["end_line"], result["has_more"]) == (1, 32, True)
    assert result["content"] == "\n".join(["x" * 1_500] * 32)


async def test_a_huge_file_is_paged_without_a_total(bench: Bench) -> None:
    bench.put("a.txt", (b"y" * 1023 + b"\n") * 1024 * 51)
    total = 51 * 1024

    forward = await bench.call("read", path="a.txt", offset=total, limit=5)
    backward = await bench.call("read", path="a.txt", offset=-2)
    beyond = await bench.call("read", path="a.txt", offset=total + 1)

    assert forward == {
        "ok": True,
        "path": "a.txt",
        "content": "y" * 1023,
        "start_line": total,
        "end_line": total,
        "has_more": False,
    }
    assert (backward["start_line"], backward["end_line"], backward["total_lines"]) == (
        total - 1,
        total,
        total,
    )
    assert (beyond["content"], beyond["start_line"], beyond["has_more"]) == ("", 0, False)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "PNG image"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "JPEG image"),
        (b"%PDF-1.7\n", "PDF document"),
        (b"\x7fELF\x02\x01\x01\0", "ELF program"),
        (b"PK\x03\x04\x14\0", "ZIP archive"),
        (b"hello\0world", "binary data"),
    ],
)
async def test_a_binary_file_is_refused_with_its_type(bench: Bench, data: bytes, kind: str) -> None:
    bench.put("a.bin", data)

    assert await bench.failure("read", path="a.bin") == (ErrorType.BINARY_FILE, f"a.bin is not text: {kind}.")


async def test_text_that_begins_like_a_program_is_text(bench: Bench) -> None:
    bench.put("a.txt", "MZ is a state code\n")

    assert (await bench.call("read", path="a.txt"))["content"] == "MZ is a state code"


async def test_a_folder_gives_its_listing(bench: Bench) -> None:
    bench.put("src/a.py", "12345")

    assert (
        await bench.call("read", path="src")
        == await bench.call("list", path="src")
        == {
            "ok": True,
            "path": "src",
            "items": [{"name": "a.py", "path": "src/a.py", "is_dir": False, "size_bytes": 5}],
        }
    )


async def test_a_missing_file_is_said(bench: Bench) -> None:
    assert await bench.failure("read", path="no.txt") == (
        ErrorType.FILE_NOT_FOUND,
        "No file or folder at no.txt.",
    )


@pytest.mark.parametrize("path", ["", "a\0b"])
async def test_a_path_that_cannot_be_is_invalid(bench: Bench, path: str) -> None:
    kind, message = await bench.failure("read", path=path)

    assert kind is ErrorType.INVALID_TOOL_PARAMS
    assert message.startswith("invalid args: path: ")


async def test_a_pipe_and_a_socket_are_refused_at_once(bench: Bench) -> None:
    os.mkfifo(bench.root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(bench.root / "sock"))

        assert await bench.failure("read", path="pipe") == (
            ErrorType.NOT_A_FILE,
            "pipe is a named pipe, not a file.",
        )
        assert await bench.failure("read", path="sock") == (
            ErrorType.NOT_A_FILE,
            "sock is a socket, not a file.",
        )


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/tty"])
async def test_a_device_is_refused(bench: Bench, path: str) -> None:
    assert (await bench.failure("read", path=path))[0] is ErrorType.NOT_A_FILE


@pytest.mark.parametrize("path", ["/proc/self/environ", "/proc/kmsg", "/sys/kernel"])
async def test_the_state_of_the_system_is_denied(bench: Bench, path: str) -> None:
    assert (await bench.failure("read", path=path))[0] is ErrorType.PERMISSION_DENIED


async def test_a_link_to_a_device_is_refused(bench: Bench) -> None:
    (bench.root / "zero").symlink_to("/dev/zero")

    assert (await bench.failure("read", path="zero"))[0] is ErrorType.NOT_A_FILE


async def test_the_declared_place_is_where_links_lead(bench: Bench, tmp_path: Path) -> None:
    secret = tmp_path / "outside.txt"
    secret.write_text("x")
    (bench.root / "link").symlink_to(secret)

    assert (await bench.access("read", path="link")).targets == (Target(TargetKind.PATH, str(secret)),)
    assert (await bench.access("read", path="../outside.txt")).targets == (
        Target(TargetKind.PATH, str(secret)),
    )


async def test_nothing_is_revealed_about_outside_paths_before_the_decision(
    bench: Bench, tmp_path: Path
) -> None:
    missing = tmp_path / "missing"

    assert (await bench.access("read", path="../missing")).targets == (Target(TargetKind.PATH, str(missing)),)


async def test_a_link_swapped_after_approval_is_refused(bench: Bench, tmp_path: Path) -> None:
    bench.put("real.txt", "x")
    other = tmp_path / "other.txt"
    other.write_text("secret")
    link = bench.root / "link"
    link.symlink_to("real.txt")
    access = await bench.access("read", path="link")
    link.unlink()
    link.symlink_to(other)

    with pytest.raises(Exception, match="led elsewhere when it was approved"):
        await bench.run("read", access, path="link")


async def test_the_user_sees_the_content_and_its_place(bench: Bench) -> None:
    bench.put("a.txt", "one\ntwo\nthree\n")

    result = await bench.result("read", path="a.txt", limit=2)

    assert (result.for_user, result.summary) == (TextBlock("one\ntwo"), "a.txt 1-2 of 3")


def png(width: int, height: int, size: int = 60) -> bytes:
    head = b"\x89PNG\r\n\x1a\n" + (13).to_bytes(4, "big") + b"IHDR" + struct.pack(">II", width, height)
    return head + bytes(size - len(head))


async def test_a_picture_is_sent_to_a_model_that_sees(bench: Bench) -> None:
    bench.sees_images = True
    data = png(640, 480)
    bench.put("shot.png", data)
    result = await bench.result("read", path="shot.png")
    assert result.for_model == {
        "ok": True,
        "path": "shot.png",
        "content": "The picture follows the results of this step.",
        "media_type": "image/png",
        "size_bytes": 60,
        "width": 640,
        "height": 480,
    }
    assert result.for_user == ImageBlock("shot.png", "image/png", 640, 480, 60)
    assert result.attachments == (
        Attachment("shot.png", "image/png 640×480", "image/png", base64.b64encode(data).decode()),
    )


async def test_a_model_without_vision_gets_a_note(bench: Bench) -> None:
    bench.put("shot.png", png(640, 480))
    with pytest.raises(ToolError) as refused:
        await bench.call("read", path="shot.png")
    assert (refused.value.type, refused.value.message) == (
        ErrorType.BINARY_FILE,
        "shot.png is not text: PNG image.",
    )
    assert refused.value.hint.startswith("This model cannot see pictures")


async def test_a_picture_that_is_too_large_is_refused(bench: Bench) -> None:
    bench.sees_images = True
    bench.put("shot.png", png(640, 480, 5_000_001))
    assert await bench.failure("read", path="shot.png") == (
        ErrorType.TOO_LARGE,
        "shot.png: it is larger than 5 MB.",
    )


async def test_other_binary_files_are_refused_for_every_model(bench: Bench) -> None:
    bench.sees_images = True
    bench.put("a.zip", b"PK\x03\x04" + bytes(100))
    kind, message = await bench.failure("read", path="a.zip")
    assert (kind, message.startswith("a.zip is not text")) == (ErrorType.BINARY_FILE, True)
