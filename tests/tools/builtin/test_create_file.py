"""`create_file` creates new files and touches no existing one."""

import os
from pathlib import Path

import pytest

from coder_tui.protocol.errors import ErrorType, ToolError
from tests.tools.calling import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "ws")


async def test_a_file_is_created_with_its_folders(bench: Bench) -> None:
    result = await bench.result("create_file", path="a/b.txt", content="one\ntwo\n")

    assert result.for_model == {
        "ok": True,
        "path": "a/b.txt",
        "operation": "create",
        "size": 8,
        "additions": 2,
        "deletions": 0,
        "diff": "--- /dev/null\n+++ b/a/b.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n",
    }
    assert result.changed_paths == ("a/b.txt",)
    assert (bench.root / "a/b.txt").read_bytes() == b"one\ntwo\n"


async def test_content_may_be_left_out(bench: Bench) -> None:
    assert (await bench.call("create_file", path="__init__.py"))["size"] == 0
    assert (bench.root / "__init__.py").read_bytes() == b""


async def test_a_new_file_counts_as_read(bench: Bench) -> None:
    await bench.call("create_file", path="a.txt", content="1\n")

    assert (await bench.call("write", path="a.txt", content="2\n"))["operation"] == "overwrite"


async def test_whatever_exists_is_left_as_it_is(bench: Bench) -> None:
    bench.put("old.txt", "old")
    (bench.root / "folder").mkdir()
    os.mkfifo(bench.root / "pipe")

    for path in ("old.txt", "folder", "pipe"):
        assert await bench.failure("create_file", path=path, content="new") == (
            ErrorType.ALREADY_EXISTS,
            f"{path} already exists.",
        )
    assert (bench.root / "old.txt").read_text() == "old"


async def test_a_file_that_appears_after_approval_is_left_as_it_is(bench: Bench) -> None:
    access = await bench.access("create_file", path="a.txt", content="mine")
    bench.put("a.txt", "theirs")

    with pytest.raises(ToolError) as caught:
        await bench.run("create_file", access, path="a.txt", content="mine")

    assert caught.value.type is ErrorType.ALREADY_EXISTS
    assert (bench.root / "a.txt").read_text() == "theirs"


async def test_nothing_is_revealed_about_outside_paths_before_the_decision(
    bench: Bench, tmp_path: Path
) -> None:
    (tmp_path / "old.txt").write_text("x")

    access = await bench.access("create_file", path="../old.txt", content="")

    assert [target.value for target in access.targets] == [str(tmp_path / "old.txt")]


async def test_half_a_character_is_refused(bench: Bench) -> None:
    assert (await bench.failure("create_file", path="a", content="\ud800"))[
        0
    ] is ErrorType.INVALID_TOOL_PARAMS
