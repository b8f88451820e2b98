"""`file_info` describes a path."""

import os
from pathlib import Path

import pytest

from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.errors import ErrorType
from tests.tools.calling import Bench

MOMENT = 1_700_000_000
MODIFIED = "2023-11-14T22:13:20+00:00"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "ws")


@pytest.mark.parametrize(
    ("data", "facts"),
    [
        (b"", {"lines": 0, "encoding": "utf-8"}),
        (b"one", {"lines": 1, "encoding": "utf-8"}),
        (b"a\nb\n", {"lines": 2, "encoding": "utf-8", "newline": "lf"}),
        (b"a\r\nb", {"lines": 2, "encoding": "utf-8", "newline": "crlf"}),
        (b"a\r\nb\n", {"lines": 2, "encoding": "utf-8", "newline": "mixed"}),
        (b"\xef\xbb\xbfa\n", {"lines": 1, "encoding": "utf-8-sig", "newline": "lf"}),
        (b"\xff\xfea\0\n\0", {"lines": 1, "encoding": "utf-16-le", "newline": "lf"}),
        (b"caf\xe9\n", {"lines": 1, "encoding": "unknown-8bit", "newline": "lf"}),
        (b"\x89PNG\r\n\x1a\n", {}),
        (b"text\n" * 20_000 + b"\0", {}),
    ],
)
async def test_a_file_is_described(bench: Bench, data: bytes, facts: dict[str, object]) -> None:
    os.utime(bench.put("a.txt", data), (MOMENT, MOMENT))

    assert await bench.call("file_info", path="a.txt") == {
        "ok": True,
        "path": "a.txt",
        "size_bytes": len(data),
        "is_dir": False,
        **facts,
        "modified": MODIFIED,
    }


async def test_a_huge_file_is_described_without_being_read(bench: Bench) -> None:
    path = bench.put("a.txt", "start\n")
    os.truncate(path, 10_000_000_000)
    os.utime(path, (MOMENT, MOMENT))

    assert await bench.call("file_info", path="a.txt") == {
        "ok": True,
        "path": "a.txt",
        "size_bytes": 10_000_000_000,
        "is_dir": False,
        "modified": MODIFIED,
    }


async def test_a_folder_is_described(bench: Bench) -> None:
    bench.put("src/a.py", "x")
    os.utime(bench.root / "src", (MOMENT, MOMENT))

    result = await bench.result("file_info", path="src")

    assert result.for_model == {
        "ok": True,
        "path": "src",
        "size_bytes": 0,
        "is_dir": True,
        "modified": MODIFIED,
    }
    assert result.summary == "src: a folder"


async def test_a_secret_is_declared_and_a_pipe_refused(bench: Bench) -> None:
    env = bench.put(".env", "A=1")
    os.mkfifo(bench.root / "pipe")

    assert (await bench.access("file_info", path=".env")).targets == (Target(TargetKind.PATH, str(env)),)
    assert (await bench.failure("file_info", path="pipe"))[0] is ErrorType.NOT_A_FILE
    assert (await bench.failure("file_info", path="gone"))[0] is ErrorType.FILE_NOT_FOUND
