"""`list` shows one folder without what does not belong there."""

import os
from pathlib import Path

import pytest

from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType
from tests.tools.calling import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "ws")


async def names(bench: Bench, path: str = ".") -> list[str]:
    return [item["name"] for item in (await bench.call("list", path=path))["items"]]


async def test_entries_are_sorted_by_name_and_have_a_size(bench: Bench) -> None:
    bench.put("b.txt", "12")
    bench.put("a/x.txt")

    result = await bench.result("list")

    assert result.for_model == {
        "ok": True,
        "path": ".",
        "items": [
            {"name": "a", "path": "a", "is_dir": True, "size_bytes": 0},
            {"name": "b.txt", "path": "b.txt", "is_dir": False, "size_bytes": 2},
        ],
    }
    assert (result.for_user, result.summary) == (TextBlock("a/\nb.txt"), ".: 2 entries")


async def test_ignored_files_git_and_secrets_are_left_out(bench: Bench) -> None:
    for name in (".git/config", ".env", ".env.sample", "id_ed25519", "a.log", "sub/b.log", "sub/keep.log"):
        bench.put(name)
    bench.put(".gitignore", "*.log\n!keep.log\n")

    assert await names(bench) == [".env.sample", ".gitignore", "sub"]
    assert await names(bench, "sub") == ["keep.log"]


async def test_a_link_to_a_folder_is_a_folder_and_a_pipe_does_no_harm(bench: Bench) -> None:
    bench.put("real/a.txt")
    (bench.root / "link").symlink_to("real")
    (bench.root / "broken").symlink_to("nowhere")
    os.mkfifo(bench.root / "pipe")

    items = (await bench.call("list"))["items"]

    assert [(item["name"], item["is_dir"]) for item in items] == [
        ("broken", False),
        ("link", True),
        ("pipe", False),
        ("real", True),
    ]


async def test_a_very_full_folder_is_cut_and_says_so(bench: Bench) -> None:
    for number in range(1_001):
        bench.put(f"{number:04}")

    result = await bench.call("list")

    assert (len(result["items"]), result["truncated"]) == (1_000, True)


async def test_a_file_is_not_a_folder(bench: Bench) -> None:
    bench.put("a.txt")

    assert await bench.failure("list", path="a.txt") == (
        ErrorType.EXECUTION_FAILED,
        "a.txt is a file, not a folder.",
    )


async def test_a_name_that_is_not_text_is_shown_as_far_as_possible(bench: Bench) -> None:
    (bench.root / os.fsdecode(b"caf\xe9")).write_text("")

    assert await names(bench) == ["caf\ufffd"]
